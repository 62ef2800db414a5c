# Two systems have translated the same two sentences; which is better?
printf 'Der Hund schläft im Garten.\nWir essen heute Abend Suppe.\n' > reference.de
printf 'Der Hund schläft im Garten.\nWir essen heute Suppe.\n' > first.de
printf 'Der Hund schläft in Garten.\nWir essen am Abend Suppe.\n' > second.de

dragoman evaluate --hypothesis first.de reference.de
dragoman evaluate --hypothesis first.de --baseline second.de reference.de
dragoman evaluate --hypothesis first.de --json --no-ter reference.de > scores.json
