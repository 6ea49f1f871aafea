// The page: two editors, what the worker says of the program, its link, and the switch.
// Texts of programs enter the page as text alone; the drawing is an image, where no script runs.
import { python } from "@codemirror/lang-python";
import { syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { basicSetup } from "codemirror";
import examples from "the-examples";

const PAUSE = 150; // milliseconds without a key before the program is converted
const LONGEST = 15000; // milliseconds after which a program is stopped
const at = (id) => document.getElementById(id);

// --- the editors ----------------------------------------------------------------------

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--paper)", fontSize: "14px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--shade)", color: "var(--faint)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--chosen)" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "var(--shade)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-diagnostic": { whiteSpace: "pre-wrap" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--error)" },
  ".cm-lintRange-info": { backgroundImage: "none", textDecoration: "underline wavy var(--accent)" },
  ".tok-keyword, .tok-operatorKeyword": { color: "var(--keyword)" },
  ".tok-string, .tok-string2": { color: "var(--string)" },
  ".tok-number, .tok-bool": { color: "var(--number)" },
  ".tok-comment": { color: "var(--faint)" },
  ".tok-definition": { color: "var(--name)" },
});

// Typed over a selection, a browser would give the text the look of what was there, by inline
// styles, which the policy forbids.
const typing = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || !event.data || view.state.selection.main.empty) {
      return false;
    }
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    event.preventDefault();
    return true;
  },
});

// In a shadow root: there an editor's styles are objects, which the policy of the page allows.
function editor(id, label, ...more) {
  const root = at(id).attachShadow({ mode: "open" });
  const frame = root.appendChild(document.createElement("div"));
  root.adoptedStyleSheets = [new CSSStyleSheet()];
  root.adoptedStyleSheets[0].replaceSync(":host > div, :host { height: 100% }");
  const state = EditorState.create({
    extensions: [
      basicSetup,
      python(),
      syntaxHighlighting(classHighlighter),
      look,
      typing,
      EditorView.contentAttributes.of({ "aria-label": label }),
      ...more,
    ],
  });
  return new EditorView({ state, parent: frame, root });
}

const source = editor(
  "source",
  "Your program",
  EditorView.updateListener.of((update) => update.docChanged && changed()),
);
const code = editor("code", "Converted code", EditorState.readOnly.of(true));

function fill(view, text) {
  if (view.state.doc.toString() !== text) {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  }
}

// --- what is shown --------------------------------------------------------------------

function say(text, failed = false) {
  at("status").textContent = text;
  at("status").className = failed ? "failed" : "";
}

// Columns of marks count characters as Python does, those of the editor UTF-16 units.
function position(line, column) {
  const { from, text } = source.state.doc.line(Math.min(Math.max(line, 1), source.state.doc.lines));
  return from + [...text].slice(0, column - 1).join("").length;
}

function diagnostic({ line, column, endLine, endColumn, severity, text }) {
  const from = position(line, column);
  const whole = source.state.doc.lineAt(from);
  if (endColumn) {
    return { from, to: Math.max(from, position(endLine ?? line, endColumn)), severity, message: text };
  }
  const start = Math.max(from, whole.from + whole.text.search(/\S|$/));
  return { from: start, to: whole.to, severity, message: text };
}

function showMarks(marks) {
  source.dispatch(setDiagnostics(source.state, marks.map(diagnostic)));
  at("marks").replaceChildren(
    ...marks.map((mark) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = mark.severity;
      button.textContent = `Line ${mark.line}: ${mark.text}`;
      button.onclick = () => {
        source.dispatch({ selection: { anchor: position(mark.line, mark.column) }, scrollIntoView: true });
        source.focus();
      };
      const item = document.createElement("li");
      item.append(button);
      return item;
    }),
  );
}

function showConverted(converted) {
  if (converted.code !== null) {
    fill(code, converted.code);
  }
  at("code").classList.toggle("stale", converted.code === null);
  showMarks(converted.marks);
  marks = converted.marks;
}

function showCalled(called) {
  const drawing = at("drawing");
  URL.revokeObjectURL(drawing.src);
  at("result").textContent = called?.result ?? "";
  drawing.hidden = !called?.svg;
  if (called?.svg) {
    drawing.src = URL.createObjectURL(new Blob([called.svg], { type: "image/svg+xml" }));
    drawing.alt = `The graph of ${at("call").value}`;
  } else {
    drawing.removeAttribute("src");
  }
  at("no-drawing").textContent = !called
    ? "Nothing ran: the program has an error."
    : numpy || called.svg
      ? "" // an error says why there is none
      : "No graph: this copy of the site has no NumPy, so the call ran as converted Python.";
  showMarks([...marks, ...(called?.marks ?? [])]);
}

// --- the worker -----------------------------------------------------------------------

let worker, waiting, running, deadline, pause;
let marks = [];
let numpy = true;
let current = 0;

function startWorker() {
  // From a blob, a worker has the policy of the page, so that a program reaches no other host.
  const code = `import ${JSON.stringify(new URL("worker.js", import.meta.url).href)};`;
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  worker = new Worker(address, { type: "module" });
  running = null;
  let ready = false;
  worker.onerror = (event) => say(`The compiler cannot be loaded: ${event.message}`, true);
  worker.onmessage = ({ data }) => {
    if (data.ready) {
      ready = true;
      numpy = data.numpy;
      performance.mark("ready");
      say("Ready");
      send();
    } else if (data.id === undefined) {
      say(`The compiler cannot be loaded: ${data.failed}`, true);
    } else {
      show(data);
    }
  };
  worker.isReady = () => ready;
}

function send() {
  if (running || !waiting || !worker.isReady()) {
    return;
  }
  running = waiting;
  waiting = null;
  worker.postMessage(running);
  deadline = setTimeout(() => {
    worker.terminate();
    showCalled({ result: `Stopped: it took longer than ${LONGEST / 1000} seconds.`, marks: [] });
    say("Loading the compiler again …");
    startWorker();
  }, LONGEST);
}

function show({ id, converted, called, failed, done }) {
  if (id === current) {
    if (failed) {
      say(failed, true);
    } else if (converted) {
      showConverted(converted);
      performance.mark("converted");
    } else {
      // Where there is no NumPy an example has the answer from the time of the build.
      showCalled((!numpy && example()?.called) || called);
      say("Ready");
    }
  }
  if (done) {
    clearTimeout(deadline);
    running = null;
    send();
  }
}

// --- the program ----------------------------------------------------------------------

// The example that stands there as it is.
function example() {
  const text = source.state.doc.toString();
  return examples.find((one) => one.text === text && one.call === at("call").value);
}

function changed() {
  clearTimeout(pause);
  pause = setTimeout(() => {
    current += 1;
    const program = { text: source.state.doc.toString(), call: at("call").value };
    waiting = { id: current, ...program };
    const known = example();
    at("example").value = known?.name ?? "";
    history.replaceState(null, "", known ? `#${known.name}` : `#=${encoded(program)}`);
    send();
  }, PAUSE);
}

function encoded({ text, call }) {
  const bytes = new TextEncoder().encode(JSON.stringify([text, call]));
  const binary = Array.from(bytes, (one) => String.fromCodePoint(one)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decoded(hash) {
  try {
    const binary = atob(hash.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (one) => one.codePointAt(0));
    const [text, call] = JSON.parse(new TextDecoder().decode(bytes)).map(String);
    return { text, call };
  } catch {
    say("The link is damaged; this is an example instead", true);
    return examples[0];
  }
}

function open(hash) {
  const named = examples.find((one) => one.name === hash.slice(1));
  const program = hash.startsWith("#=") ? decoded(hash.slice(2)) : (named ?? examples[0]);
  at("call").value = program.call;
  fill(source, program.text);
  changed();
  if (program.converted) {
    showConverted(program.converted);
    showCalled(program.called);
  }
}

at("example").append(
  ...[{ name: "", title: "(your own)" }, ...examples].map((one) => new Option(one.title, one.name)),
);
at("example").onchange = () => at("example").value && open(`#${at("example").value}`);
at("call").oninput = changed;
at("share").onclick = async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    say("Copied");
  } catch {
    say("Copy the address of this page instead");
  }
};

// --- light and dark -------------------------------------------------------------------

const system = matchMedia("(prefers-color-scheme: dark)");
let chosen = localStorage.getItem("playground-theme");

function paint() {
  const dark = chosen ? chosen === "dark" : system.matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  at("theme").setAttribute("aria-pressed", String(dark));
}
system.onchange = paint;
at("theme").onclick = () => {
  chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("playground-theme", chosen);
  paint();
};

paint();
startWorker();
open(location.hash);
onhashchange = () => open(location.hash);
