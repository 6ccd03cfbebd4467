import { assertEquals, assertRejects } from "@std/assert";
import { ClientError } from "../errors.ts";
import { compareTrees, type Step, type TreeEntry } from "./tree.ts";

/** Files, folders (with a slash; with `//` if they have something in them), and `!` for links, `#` for unreadable folders. */
async function* tree(...names: string[]): AsyncGenerator<TreeEntry> {
  for (const name of names) {
    await Promise.resolve();
    if (name.startsWith("!")) {
      yield { kind: "problem", name: name.slice(1), reason: "link", effect: "ignored" };
    } else if (name.startsWith("#")) {
      yield { kind: "problem", name: name.slice(1), reason: "denied", effect: "unreadable" };
    } else if (name.endsWith("//")) {
      yield { kind: "folder", name: name.slice(0, -1), isEmpty: false };
    } else if (name.endsWith("/")) yield { kind: "folder", name, isEmpty: true };
    else yield { kind: "file", name, size: 1, time: 0 };
  }
}

function lineOf(step: Step): string {
  if (step.kind === "problem") return `${step.side} problem ${step.problem.name}`;
  return `${step.kind} ${step.kind === "extra" ? step.target.name : step.source.name}`;
}

async function compared(source: string[], target: string[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const step of compareTrees(tree(...source), tree(...target))) {
    lines.push(lineOf(step));
  }
  return lines;
}

Deno.test("Names are new, on both sides, or extra", async () => {
  assertEquals(await compared(["a", "b", "d"], ["b", "c"]), [
    "new a",
    "same name b",
    "extra c",
    "new d",
  ]);
  assertEquals(await compared([], ["a", "b"]), ["extra a", "extra b"]);
  assertEquals(await compared(["a", "b"], []), ["new a", "new b"]);
  assertEquals(await compared([], []), []);
});

Deno.test("Names are compared by their UTF-8 bytes", async () => {
  const names = ["a", "a.txt", "a/b", "\u{ffff}", "\u{1f600}"];
  assertEquals(await compared(names, names), names.map((name) => `same name ${name}`));
});

Deno.test("A folder that is extra follows what is extra in it", async () => {
  const target = ["a//", "a/b//", "a/b/1", "a/b/c/", "a/x", "b"];
  assertEquals(await compared(["b"], target), [
    "extra a/b/1",
    "extra a/b/c/",
    "extra a/b/",
    "extra a/x",
    "extra a/",
    "same name b",
  ]);
  assertEquals(await compared([], ["x/", "x/y/"]), ["extra x/y/", "extra x/"]);
});

Deno.test("A folder in which the source has something is not extra", async () => {
  assertEquals(await compared(["a/b/c"], ["a//", "a/b//", "a/b/d", "a/e/"]), [
    "new a/b/c",
    "extra a/b/d",
    "extra a/e/",
  ]);
  assertEquals(await compared(["a", "a-b"], ["a//", "a/x"]), [
    "new a",
    "new a-b",
    "extra a/x",
    "extra a/",
  ]);
});

Deno.test("What has the name of a problem of the source, or is below it, is not extra", async () => {
  const target = ["a", "a.txt", "a/b", "a/c/", "b/x"];
  assertEquals(await compared(["!a", "#b/"], target), [
    "source problem a",
    "extra a.txt",
    "source problem b/",
  ]);
});

Deno.test("A link of the target is a problem, and the file of the source with its name is new", async () => {
  assertEquals(await compared(["a"], ["!a", "!b", "c"]), [
    "target problem a",
    "new a",
    "target problem b",
    "extra c",
  ]);
});

Deno.test("A tree that is not in order is refused", async () => {
  for (const names of [["b", "a"], ["a", "a"]]) {
    await assertRejects(() => compared(names, []), ClientError, "not in order");
    await assertRejects(() => compared([], names), ClientError, "not in order");
  }
});
