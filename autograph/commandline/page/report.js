"use strict";
// Texts of the program become text nodes: nothing here parses markup.
const report = JSON.parse(document.getElementById("report").textContent);
const READABLE = 1.6; // units of the drawing for a pixel
const HELP = "Point at a line or a node to see what becomes of it; click to keep it. Keys: ↑ ↓ lines, 1–9 columns, + − 0 the graph, Esc.";
const [main, nav, footer] = ["main", "nav", "footer"].map((name) => document.querySelector(name));
const linked = new Map(); // the lines and nodes of each statement
let pinned = [];
let svg = null;
let view = null; // of the drawing: left, top, width, height

function make(parent, name, className, text = "") {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  parent.append(element);
  return element;
}

// --- what belongs together

function link(element, links) {
  element.dataset.link = links.join(" ");
  for (const each of links) linked.set(each, [...(linked.get(each) || []), element]);
}

function linksOf(element) {
  const found = element.closest("[data-link]");
  return found ? found.dataset.link.split(" ").map(Number) : [];
}

function mark(links, className) {
  for (const element of document.querySelectorAll(`.${className}`)) element.classList.remove(className);
  for (const each of links) for (const element of linked.get(each) || []) element.classList.add(className);
  footer.replaceChildren();
  for (const each of links.slice(0, 8)) {
    const [seconds, runs] = report.times[each] || [];
    const facts = [report.names[each], ...(report.values[each] || [])];
    if (runs) facts.push(time(seconds), runs === 1 ? "1 run" : `${runs} runs`);
    make(footer, "code", "", facts.join("  ·  "));
  }
  if (!links.length) make(footer, "span", "", HELP);
  make(footer, "span", "how", report.how || "");
}

function pin(links, from) {
  pinned = links;
  mark(links, "pinned");
  for (const section of main.children) {
    const first = section.querySelector(".pinned");
    if (!first || section === from || section.hidden) continue;
    const lines = section.querySelector(".lines");
    if (lines) lines.scrollTop = first.offsetTop - lines.offsetTop - lines.clientHeight / 3;
    else reveal(first);
  }
}

function time(seconds) {
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  return seconds >= 1e-3 ? `${(seconds * 1e3).toFixed(2)} ms` : `${(seconds * 1e6).toFixed(1)} µs`;
}

// --- columns

function addLines(section, { title, lines }) {
  const list = make(section, "div", "lines");
  const most = Math.max(...Object.values(report.times).map(([seconds]) => seconds));
  const told = new Set();
  list.tabIndex = 0;
  list.setAttribute("aria-label", title);
  for (const [number, text, links] of lines) {
    const row = make(list, "div", number ? "" : "heading");
    const first = title !== "Source" || told.has(links[0]) ? undefined : links[0];
    if (title === "Source" && report.how) {
      const [seconds] = report.times[first] || [];
      const bar = make(row, "span", "time", seconds === undefined ? "" : time(seconds));
      bar.style.backgroundSize = `${(100 * (seconds || 0)) / most}% 100%`;
    }
    make(row, "span", "number", number || "");
    make(row, "span", /^\s*[#;]/.test(text) ? "comment" : "", text);
    if (links.length) link(row, links);
    if (report.values[first]) make(row, "span", "values", report.values[first].join("  "));
    told.add(links[0]);
  }
}

function build([name, attributes, ...inside]) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "data-link") link(element, [value]);
    else element.setAttribute(key, value);
  }
  element.append(...inside.map((each) => (Array.isArray(each) ? build(each) : each)));
  return element;
}

// --- the drawing

function look(...box) {
  view = box;
  svg.setAttribute("viewBox", box.join(" "));
}

function zoom(factor, x = view[0] + view[2] / 2, y = view[1] + view[3] / 2) {
  look(x - (x - view[0]) * factor, y - (y - view[1]) * factor, view[2] * factor, view[3] * factor);
}

function reveal(element) {
  const { x, y, width, height } = element.getBBox();
  zoom(Math.min(1, (READABLE * svg.clientWidth) / view[2]));
  look(x + width / 2 - view[2] / 2, y + Math.min(height, view[3]) / 2 - view[3] / 2, view[2], view[3]);
}

/** Show the whole drawing, or its top where units were to be smaller than `most`. */
function fit(most) {
  const { clientWidth: width, clientHeight: height } = svg.parentElement;
  if (!width) return; // it is hidden
  const [wide, high] = svg.dataset.size.split(" ");
  const scale = Math.min(Math.max(1, wide / width, high / height), most);
  look((wide - width * scale) / 2, 0, width * scale, height * scale);
}

function addDrawing(section, { title, drawing }) {
  const holder = make(section, "div", "drawing");
  let from = null;
  let isDragged = false; // which is no click
  const inDrawing = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  svg = build(drawing);
  svg.dataset.size = `${svg.getAttribute("width")} ${svg.getAttribute("height")}`;
  for (const name of ["width", "height"]) svg.removeAttribute(name);
  holder.append(svg);
  holder.tabIndex = 0;
  holder.setAttribute("aria-label", `${title}: drag to move, wheel to zoom`);
  holder.addEventListener("wheel", (event) => {
    const { x, y } = inDrawing(event);
    event.preventDefault();
    zoom(Math.exp(event.deltaY / 500), x, y);
  }, { passive: false });
  holder.addEventListener("pointerdown", (event) => {
    from = inDrawing(event);
    isDragged = false;
  });
  holder.addEventListener("pointermove", (event) => {
    const to = inDrawing(event);
    if (!from || !event.buttons || (!isDragged && Math.hypot(to.x - from.x, to.y - from.y) < 4)) return;
    isDragged = true;
    holder.setPointerCapture(event.pointerId);
    look(view[0] + from.x - to.x, view[1] + from.y - to.y, view[2], view[3]);
  });
  holder.addEventListener("click", (event) => isDragged && event.stopPropagation());
}

// --- the page

document.title = document.querySelector("h1").textContent = report.title;
document.querySelector("pre").textContent = report.signature;
report.panes.forEach((pane, index) => {
  const section = make(main, "section", pane.drawing ? "" : "code");
  const button = make(nav, "button", "", `${index + 1} ${pane.title}`);
  const show = (isShown) => {
    section.hidden = !isShown;
    button.setAttribute("aria-pressed", isShown);
  };
  make(section, "h2", "", pane.title);
  (pane.drawing ? addDrawing : addLines)(section, pane);
  button.addEventListener("click", () => {
    show(section.hidden);
    pin(pinned);
  });
  show(index < 4);
});
fit(READABLE);
pin([]);

main.addEventListener("pointerover", (event) => {
  const links = linksOf(event.target);
  mark(links, "near");
  if (!links.length) mark(pinned, "pinned");
});
main.addEventListener("click", (event) => {
  const links = linksOf(event.target);
  pin(links.join() === pinned.join() ? [] : links, event.target.closest("section"));
});
document.addEventListener("keydown", (event) => {
  const { key } = event;
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (step) {
    const order = [...new Set(report.panes[0].lines.flatMap(([, , links]) => links))];
    const next = order[order.indexOf(pinned[0]) + step];
    if (next !== undefined) pin([next]);
    event.preventDefault();
  } else if (key === "Escape") pin([]);
  else if (key === "+" || key === "=") zoom(0.8);
  else if (key === "-") zoom(1.25);
  else if (key === "0") fit(Infinity);
  else nav.children[key - 1]?.click();
});
