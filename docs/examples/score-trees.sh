# Two parsers have parsed the same sentences. The second has found no tree for one of them.
cat > gold.mrg <<'TREES'
(TOP (S (NP-SBJ (DT the) (NN otter)) (VP (VBZ swims) (PP-DIR (IN to) (NP (DT the) (NN reeds)))) (. .)))
(TOP (S (NP-SBJ (PRP it)) (VP (VBZ eats) (NP (DT a) (NN fish)) (PP-TMP (IN at) (NP (NN noon)))) (. .)))
(TOP (FRAG (NP (NN rain)) (, ,) (ADVP (RB again)) (. .)))
TREES
cat > first.mrg <<'TREES'
(TOP (S (NP (DT the) (NN otter)) (VP (VBZ swims) (PP (IN to) (NP (DT the) (NN reeds)))) (. .)))
(TOP (S (NP (PRP it)) (VP (VBZ eats) (NP (NP (DT a) (NN fish)) (PP (IN at) (NP (NN noon))))) (. .)))
(TOP (FRAG (NP (NN rain)) (, ,) (ADVP (RB again)) (. .)))
TREES
cat > second.mrg <<'TREES'
(TOP (S (NP (DT the) (NN otter)) (VP (VBZ swims) (PP (IN to) (NP (DT the) (NN reeds)))) (. .)))

(TOP (FRAG (NP (NN rain)) (, ,) (ADVP (RB again)) (. .)))
TREES

dragoman evaluate --gold gold.mrg --predicted first.mrg
dragoman evaluate --gold gold.mrg --predicted second.mrg

# What EVALB would print, with a row for each sentence; then everything as JSON.
dragoman evaluate --gold gold.mrg --predicted first.mrg --per-sentence
dragoman evaluate --gold gold.mrg --predicted first.mrg --json > scores.json

# Other rules: EVALB's own without a parameter file, or those of a file.
dragoman evaluate --gold gold.mrg --predicted first.mrg --params none
printf 'LABELED 0\nDELETE_LABEL TOP\nDELETE_LABEL .\nDELETE_LABEL ,\n' > unlabeled.prm
dragoman evaluate --gold gold.mrg --predicted first.mrg --params unlabeled.prm
