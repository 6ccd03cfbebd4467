import { assertStringIncludes, assertThrows } from "@std/assert";
import { type Call, History, NotLinearizable, type Outcome } from "./history.ts";
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

Deno.test("A read after a write must show that write.", () => {
  run(new History("a"), read(undefined), write("one"), read("one"));
  assertThrows(() => run(new History("a"), write("one"), read(undefined)), NotLinearizable);
  assertThrows(
    () => run(new History("a"), write("one"), write("two"), read("one")),
    NotLinearizable,
  );
});

Deno.test("A read concurrent with writes may show any of them or the state before.", () => {
  for (const source of [undefined, "one", "two"]) {
    together(new History("a"), write("one"), write("two"), read(source));
  }
  assertThrows(
    () => together(new History("a"), write("one"), write("two"), read("three")),
    NotLinearizable,
  );
});

Deno.test("A later read cannot show an older state.", () => {
  const history = new History("a");
  const call = history.begin("slow");
  run(history, read("new"), read(undefined));
  assertThrows(() => history.end(call, write("new")), NotLinearizable);
});

Deno.test("Of two writes that require a new name, one must fail.", () => {
  assertThrows(() => together(new History("a"), writeNew("one"), writeNew("two")), NotLinearizable);
});

Deno.test("A later read decides between possible states.", () => {
  const history = new History("a");
  together(history, write("one"), write("two"));
  run(history, read("one"));
  assertThrows(() => run(history, read("two")), NotLinearizable);
});

Deno.test("A write without a response may have happened, but not later.", () => {
  for (const source of ["one", undefined]) {
    const history = new History("a");
    history.lose(history.begin("put one"), write("one"));
    run(history, read(source), read(source));
    const other = source === "one" ? undefined : "one";
    assertThrows(() => run(history, read(other)), NotLinearizable);
  }
});

Deno.test("The report omits reads that are not needed to show the contradiction.", () => {
  const history = new History("drive/a");
  run(history, write("one"));
  const call = history.begin("slow read");
  run(history, read("one"), write("two"), read("two"), read("one"));
  const error = assertThrows(() => history.end(call, read("two")), NotLinearizable);
  assertStringIncludes(error.message, "drive/a explains the last response");
  const begun = error.message.split("\n").filter((line) => line.includes("begins")).length;
  if (begun !== 2) throw new Error(`Expected only the write and the last read: ${error.message}`);
});
