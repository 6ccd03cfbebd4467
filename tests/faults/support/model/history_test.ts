import { assertStringIncludes, assertThrows } from "@std/assert";
import { type Call, History, type Outcome, Unexplained } from "./history.ts";
import { withFile } from "./state.ts";

function write(source: string): Outcome {
  return { text: "201", effect: (state) => withFile(state, { source, bodies: [] }) };
}

function writeNew(source: string): Outcome {
  const { effect } = write(source);
  return { text: "201", effect: (state) => state.file === undefined ? effect(state) : undefined };
}

function read(source: string | undefined): Outcome {
  return {
    text: source ?? "404",
    effect: (state) => state.file?.source === source ? state : undefined,
    pure: true,
  };
}

function run(history: History, ...outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) history.end(history.begin("call"), outcome);
}

function together(history: History, ...outcomes: readonly Outcome[]): void {
  const calls = outcomes.map((outcome): [Call, Outcome] => [history.begin("call"), outcome]);
  for (const [call, outcome] of calls) history.end(call, outcome);
}

Deno.test("A read after a write must show it.", () => {
  run(new History("a"), read(undefined), write("one"), read("one"));
  assertThrows(() => run(new History("a"), write("one"), read(undefined)), Unexplained);
  assertThrows(() => run(new History("a"), write("one"), write("two"), read("one")), Unexplained);
});

Deno.test("A read beside writes may show any of them, and nothing else.", () => {
  for (const source of [undefined, "one", "two"]) {
    together(new History("a"), write("one"), write("two"), read(source));
  }
  assertThrows(
    () => together(new History("a"), write("one"), write("two"), read("three")),
    Unexplained,
  );
});

Deno.test("Two reads one after the other cannot go back in time.", () => {
  const history = new History("a");
  const call = history.begin("slow");
  run(history, read("new"), read(undefined));
  assertThrows(() => history.end(call, write("new")), Unexplained);
});

Deno.test("Of two writers that want the name to be new, one must fail.", () => {
  assertThrows(() => together(new History("a"), writeNew("one"), writeNew("two")), Unexplained);
});

Deno.test("What remains open at a quiet moment is decided by what is read later.", () => {
  const history = new History("a");
  together(history, write("one"), write("two"));
  run(history, read("one"));
  assertThrows(() => run(history, read("two")), Unexplained);
});

Deno.test("A write without an answer happened or not, but only while it ran.", () => {
  for (const source of ["one", undefined]) {
    const history = new History("a");
    history.lose(history.begin("put one"), write("one"));
    run(history, read(source), read(source));
    const other = source === "one" ? undefined : "one";
    assertThrows(() => run(history, read(other)), Unexplained);
  }
});

Deno.test("The report leaves out the answers that are not needed to see what is wrong.", () => {
  const history = new History("drive/a");
  run(history, write("one"));
  const call = history.begin("slow read");
  run(history, read("one"), write("two"), read("two"), read("one"));
  const error = assertThrows(() => history.end(call, read("two")), Unexplained);
  assertStringIncludes(error.message, "drive/a explains the last answer");
  const begun = error.message.split("\n").filter((line) => line.includes("begins")).length;
  if (begun !== 2) throw new Error(`The write and the last read alone are wrong: ${error.message}`);
});
