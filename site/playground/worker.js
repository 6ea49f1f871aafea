// The compiler and the runtime, on Pyodide: answers { id, text, call } with the converted
// code, and then with what the call gives.
import { loadPyodide } from "./pyodide/pyodide.mjs";

async function start() {
  const here = new URL(".", import.meta.url);
  const archive = fetch(new URL("packages.zip", here)).then((answer) => answer.arrayBuffer());
  const pyodide = await loadPyodide({
    indexURL: new URL("pyodide/", here).href,
    env: { OMP_NUM_THREADS: "1" }, // there are no threads
  });
  if (HAS_NUMPY) {
    await pyodide.loadPackage("numpy", { messageCallback: () => {} });
  }
  pyodide.unpackArchive(await archive, "zip", { extractDir: "/packages" });
  return pyodide.runPython(`
import json, sys
sys.path.insert(0, "/packages")
import playground
lambda name, *texts: json.dumps(getattr(playground, name)(*texts))
`);
}

const started = start();
started.then(
  () => postMessage({ ready: true, numpy: HAS_NUMPY }),
  (error) => postMessage({ failed: String(error) }),
);

addEventListener("message", async ({ data: { id, text, call } }) => {
  const answer = await started;
  try {
    const converted = JSON.parse(answer("converted", text));
    postMessage({ id, converted });
    const called = converted.code === null ? null : JSON.parse(answer("called", text, call));
    postMessage({ id, called, done: true });
  } catch (error) {
    postMessage({ id, failed: String(error), done: true });
  }
});
