"use strict";

// What the page shows is in the element "data"; texts reach the page as text nodes alone, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function make(name, attributes = {}, text = null) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  return element;
}

function draw(name, attributes = {}, text = null) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  return element;
}

const share = (thousandths) => (thousandths / 1000).toFixed(2);
const color = (head) => data.colors[head];

// ---- One layer: lines between words, as in Figures 3 to 5 of the paper ----

const state = { kind: "encoder", layer: 0, heads: new Set(), word: null, pinned: false, turned: false };

function kindData() { return data.kinds[state.kind]; }

function choose(changes) {
  Object.assign(state, changes);
  state.layer = Math.min(state.layer, kindData().weights.length - 1);
  refresh();
}

function button(label, pressed, act, attributes = {}) {
  const element = make("button", { type: "button", "aria-pressed": String(pressed), ...attributes }, label);
  element.addEventListener("click", act);
  return element;
}

function controls() {
  const kinds = document.getElementById("kinds");
  kinds.replaceChildren(make("span", {}, "kind"));
  for (const [kind, one] of Object.entries(data.kinds)) {
    kinds.append(button(one.name, kind === state.kind, () => choose({ kind, word: null, pinned: false }),
      { id: `kind-${kind}` }));
  }
  const layers = document.getElementById("layers");
  layers.replaceChildren(make("span", {}, "layer"));
  kindData().weights.forEach((_, layer) => {
    layers.append(button(String(layer + 1), layer === state.layer, () => choose({ layer }), { id: `layer-${layer + 1}` }));
  });
  const heads = document.getElementById("heads");
  heads.replaceChildren(make("span", {}, "heads"));
  kindData().weights[0].forEach((_, head) => {
    heads.append(button(String(head + 1), state.heads.has(head), () => {
      if (state.heads.has(head)) state.heads.delete(head); else state.heads.add(head);
      refresh(`head-${head + 1}`);
    }, { id: `head-${head + 1}`, class: "head", style: `--head: ${color(head)}`, "aria-label": `head ${head + 1}` }));
  });
  const all = kindData().weights[0].length;
  heads.append(button("all", state.heads.size === all, () => {
    state.heads = new Set([...Array(all).keys()]);
    refresh("all-heads");
  }, { id: "all-heads" }));
  heads.append(button("none", state.heads.size === 0, () => { state.heads = new Set(); refresh("no-heads"); }, { id: "no-heads" }));
  heads.append(button("turn", state.turned, () => { state.turned = !state.turned; refresh("turn"); }, { id: "turn" }));
}

const STEP = 24, GAP = 240, MARGIN = 12;

function textWidth(words) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = "14px system-ui, sans-serif";
  return Math.max(...words.map((word) => context.measureText(word).width)) + 60;
}

function figure() {
  const { rows, columns, weights } = kindData();
  const left = textWidth(rows), right = textWidth(columns);
  const length = STEP * Math.max(rows.length, columns.length) + 2 * MARGIN, across = left + GAP + right;
  const place = (along, side) => (state.turned ? [along, side] : [side, along]);
  const [width, height] = place(length, across);
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", id: "figure" });
  svg.append(draw("title", {}, `${kindData().name}, layer ${state.layer + 1}`));
  const lines = draw("g", { id: "lines" });
  svg.append(lines);
  for (const head of [...state.heads].sort((a, b) => a - b)) {
    weights[state.layer][head].forEach((row, q) => row.forEach((weight, m) => {
      if (weight < 10) return;
      const [x1, y1] = place(MARGIN + STEP * (q + 0.5), left), [x2, y2] = place(MARGIN + STEP * (m + 0.5), left + GAP);
      const line = draw("line", { x1, y1, x2, y2, stroke: color(head), "stroke-width": 1 + 3 * weight / 1000,
        "stroke-opacity": weight / 1000, "data-head": head + 1, "data-row": q, "data-column": m });
      line.append(draw("title", {}, `head ${head + 1}: ${rows[q]} \u2192 ${columns[m]} ${share(weight)}`));
      lines.append(line);
    }));
  }
  [rows, columns].forEach((words, side) => words.forEach((word, index) => {
    const group = draw("g", { class: "word", tabindex: 0, role: "button", "aria-pressed": "false",
      "data-side": side, "data-index": index, "aria-label": word });
    const [x, y] = place(MARGIN + STEP * index, side ? left + GAP : 0);
    const [w, h] = place(STEP, side ? right : left);
    group.append(draw("rect", { x, y, width: w, height: h, rx: 3 }));
    const [tx, ty] = place(MARGIN + STEP * (index + 0.5), side ? left + GAP + 8 : left - 8);
    const turn = state.turned ? `rotate(-90 ${tx} ${ty})` : "";
    const atEnd = state.turned ? side === 1 : side === 0;
    group.append(draw("text", { x: tx, y: ty, transform: turn, "text-anchor": atEnd ? "end" : "start",
      "dominant-baseline": "central" }, word));
    const [vx, vy] = place(MARGIN + STEP * (index + 0.5), side ? across - 4 : 4);
    group.append(draw("text", { x: vx, y: vy, class: "value", transform: state.turned ? `rotate(-90 ${vx} ${vy})` : "",
      "text-anchor": (state.turned ? side === 1 : side === 0) ? "start" : "end", "dominant-baseline": "central" }));
    group.addEventListener("mouseenter", () => { if (!state.pinned) point({ side, index }); });
    group.addEventListener("mouseleave", () => { if (!state.pinned) point(null); });
    group.addEventListener("click", () => pin({ side, index }));
    group.addEventListener("focus", () => { if (!state.pinned) point({ side, index }); });
    group.addEventListener("keydown", (event) => keys(event, side, index));
    svg.append(group);
  }));
  return svg;
}

/** The greatest weight, over the chosen heads, between the word that is pointed at and this one. */
function mostTo(side, index) {
  const weights = kindData().weights[state.layer];
  return Math.max(0, ...[...state.heads].map((head) => (side ? weights[head][state.word.index][index] :
    weights[head][index][state.word.index])));
}

function point(word) {
  if (JSON.stringify(state.word) === JSON.stringify(word)) return;
  state.word = word;
  highlight();
}

/** Show the lines and weights of the word that is pointed at, or all lines; elements stay, and with them the focus. */
function highlight() {
  const { word } = state;
  for (const line of document.querySelectorAll("#lines line")) {
    const end = word && Number(word.side ? line.dataset.column : line.dataset.row);
    line.style.display = word && end !== word.index ? "none" : "";
  }
  for (const group of document.querySelectorAll("#figure .word")) {
    const side = Number(group.dataset.side), index = Number(group.dataset.index);
    const value = word && word.side !== side ? mostTo(side, index) : 0;
    group.setAttribute("aria-pressed", String(Boolean(word) && word.side === side && word.index === index));
    group.querySelector(".value").textContent = value >= 10 ? share(value) : "";
  }
}

function pin(word) {
  const same = state.pinned && JSON.stringify(state.word) === JSON.stringify(word);
  state.pinned = !same;
  state.word = same ? null : word;
  highlight();
}

const wordElement = (side, index) => document.querySelector(`#figure [data-side="${side}"][data-index="${index}"]`);

function keys(event, side, index) {
  const back = state.turned ? "ArrowLeft" : "ArrowUp", on = state.turned ? "ArrowRight" : "ArrowDown";
  const other = state.turned ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  if (event.key === "Enter" || event.key === " ") pin({ side, index });
  else if (event.key === "Escape") { state.pinned = false; point(null); }
  else if (event.key === back) wordElement(side, index - 1)?.focus();
  else if (event.key === on) wordElement(side, index + 1)?.focus();
  else if (event.key === other[0]) wordElement(0, index)?.focus();
  else if (event.key === other[1]) wordElement(1, index)?.focus();
  else return;
  event.preventDefault();
}

function show() {
  document.getElementById("drawing").replaceChildren(figure());
  highlight();
}

function refresh(focus = null) {
  const id = focus || (document.activeElement && document.activeElement.id) || null;
  controls();
  show();
  overview();
  if (id) document.getElementById(id)?.focus();
}

// ---- All heads of one kind, small ----

function overview() {
  const grid = document.getElementById("overview");
  grid.replaceChildren();
  kindData().weights.forEach((heads, layer) => {
    const line = make("div");
    line.append(make("span", {}, `layer ${layer + 1}`));
    heads.forEach((weight, head) => {
      const only = state.layer === layer && state.heads.size === 1 && state.heads.has(head);
      const one = button("", only, () => choose({ layer, heads: new Set([head]) }),
        { "aria-label": `layer ${layer + 1}, head ${head + 1}`, id: `small-${layer + 1}-${head + 1}` });
      one.append(heatmap(weight, color(head)));
      line.append(one);
    });
    grid.append(line);
  });
}

function heatmap(weight, tint) {
  const canvas = make("canvas", { width: weight[0].length, height: weight.length });
  const context = canvas.getContext("2d");
  context.fillStyle = tint;
  weight.forEach((row, q) => row.forEach((value, m) => {
    context.globalAlpha = Math.sqrt(value / 1000);
    context.fillRect(m, q, 1, 1);
  }));
  return canvas;
}

// ---- Cross-attention as an alignment ----

function alignment() {
  const { rows, columns, weights } = data.kinds.cross;
  const choices = document.getElementById("alignment-layers");
  const layer = Number(choices.dataset.layer ?? Math.max(0, weights.length - 2));
  choices.replaceChildren(make("span", {}, "layer"));
  weights.forEach((_, number) => choices.append(button(String(number + 1), number === layer, () => {
    choices.dataset.layer = number;
    alignment();
  }, { id: `alignment-${number + 1}` })));
  const cell = 22, left = textWidth(rows) - 40, top = textWidth(columns) - 40;
  const width = left + cell * columns.length + 8, height = top + cell * rows.length + 8;
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.append(draw("title", {}, `cross-attention of layer ${layer + 1}, mean of all heads`));
  columns.forEach((word, m) => {
    const x = left + cell * (m + 0.5), y = top - 6;
    svg.append(draw("text", { x, y, transform: `rotate(-90 ${x} ${y})`, "dominant-baseline": "central" }, word));
  });
  rows.forEach((word, q) => {
    svg.append(draw("text", { x: left - 6, y: top + cell * (q + 0.5), "text-anchor": "end", "dominant-baseline": "central" },
      word));
    columns.forEach((other, m) => {
      const mean = weights[layer].reduce((sum, head) => sum + head[q][m], 0) / weights[layer].length;
      const square = draw("rect", { class: "cell", x: left + cell * m + 1, y: top + cell * q + 1, width: cell - 2,
        height: cell - 2, "fill-opacity": 0.04 + 0.96 * mean / 1000 });
      square.append(draw("title", {}, `${word} \u2190 ${other} ${share(mean)}`));
      svg.append(square);
    });
  });
  document.getElementById("alignment").replaceChildren(svg);
}

// ---- What else could have come ----

function candidates() {
  const table = document.getElementById("candidates");
  data.candidates.forEach(({ written, pieces }) => {
    const mine = pieces[written];
    const line = make("tr"), cell = make("td", { class: "share" }), others = make("td");
    line.append(make("td", written === 0 ? {} : { class: "unlikely" }, mine[0]));
    cell.append(make("span", { class: "bar", style: `width: ${(7 * mine[1]).toFixed(2)}rem` }), mine[1].toFixed(3));
    pieces.forEach(([piece, probability], place) => {
      if (place !== written) others.append(make("span", { class: "other" }, `${piece} ${probability.toFixed(3)}`));
    });
    line.append(cell, others);
    table.append(line);
  });
}

// ---- What search has kept ----

function beam() {
  const nodes = data.beam.map(([piece, parent, logProbability, rank]) => ({ piece, parent, logProbability, rank,
    children: [], best: false, depth: parent < 0 ? 0 : -1, y: 0 }));
  const roots = [];
  nodes.forEach((node, index) => {
    (node.parent < 0 ? roots : nodes[node.parent].children).push(index);
    if (node.parent >= 0) node.depth = nodes[node.parent].depth + 1;
  });
  for (let at = nodes.findIndex((node) => node.rank === 1); at >= 0; at = nodes[at].parent) nodes[at].best = true;
  let leaves = 0;
  for (let index = nodes.length - 1; index >= 0; index -= 1) nodes[index].size = 1 + nodes[index].children
    .reduce((sum, child) => sum + nodes[child].size, 0);
  const stack = [...roots].reverse();
  const order = [];
  while (stack.length) {
    const index = stack.pop();
    order.push(index);
    stack.push(...[...nodes[index].children].sort((a, b) => nodes[a].best - nodes[b].best || nodes[a].size - nodes[b].size));
  }
  for (const index of order) if (!nodes[index].children.length) { nodes[index].y = leaves; leaves += 1; }
  for (const index of [...order].reverse()) {
    const { children } = nodes[index];
    if (children.length) nodes[index].y = children.reduce((sum, child) => sum + nodes[child].y, 0) / children.length;
  }
  const column = Math.min(140, Math.max(60, textWidth(nodes.map((node) => node.piece)) - 20)), row = 22;
  const width = column * (Math.max(...nodes.map((node) => node.depth)) + 1) + 60, height = row * leaves + 16;
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.append(draw("title", {}, "what search has kept, the best output in bold"));
  const at = (node) => [8 + column * node.depth, 8 + row * (node.y + 0.5)];
  nodes.forEach((node) => {
    if (node.parent < 0) return;
    const [x, y] = at(node), [px, py] = at(nodes[node.parent]), from = px + column * 0.62;
    svg.prepend(draw("path", { class: node.best ? "edge best" : "edge",
      d: `M${from} ${py}C${from + 14} ${py} ${x - 18} ${y} ${x - 4} ${y}` }));
  });
  nodes.forEach((node) => {
    const [x, y] = at(node);
    const text = draw("text", { x, y, class: node.best ? "best" : "", "dominant-baseline": "central" },
      node.piece + (node.rank ? `  (${node.rank})` : ""));
    text.append(draw("title", {}, `probability ${Math.exp(node.logProbability).toFixed(3)}`));
    svg.append(text);
  });
  document.getElementById("beam").replaceChildren(svg);
}

state.heads = new Set([...Array(data.kinds.encoder.weights[0].length).keys()]);
Object.assign(state, data.first);
if (data.first.heads) state.heads = new Set(data.first.heads);
refresh();
alignment();
candidates();
if (data.beam.length) beam(); else document.getElementById("searched").remove();
