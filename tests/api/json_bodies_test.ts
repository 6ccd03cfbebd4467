import { assertEquals, assertStringIncludes } from "@std/assert";
import { assertErrorAnswer, suite } from "../support/suite.ts";

const test = suite("JSON bodies are bounded before anything is built of them");

const MIB = 2 ** 20;

/** Every call of a drive with a JSON body: method, path, the largest body in bytes. */
const CALLS: [string, string, number][] = [
  ["DELETE", "/files", 6_000_000],
  ["POST", "/files/copy", 12_000_000],
  ["POST", "/files/move", 12_000_000],
  ["POST", "/archive", 12_000_000],
  ["POST", "/trash/restore", MIB],
  ["DELETE", "/trash", MIB],
  ["POST", "/folders", MIB],
  ["DELETE", "/folders", MIB],
  ["POST", "/links", MIB],
  ["PATCH", "/files?name=a", MIB],
];

for (const [method, path, limit] of CALLS) {
  test(`${method} ${path} counts values, depth and bytes.`, async (drive) => {
    await drive.put("a", "x");
    const bodies: [string, number, string][] = [
      [`{${'"a":0,'.repeat(Math.min(limit / 6, 1_000_000) - 10)}"b":0}`, 400, "10000 values"],
      ["[".repeat(limit), 400, "8 levels"],
      ['{"names":'.repeat(9) + "1" + "}".repeat(9), 400, "8 levels"],
      [`{"${"x".repeat(limit - 100)}": 1}`, 400, "is unknown"],
      ['{"a\\n": 1}', 400, "is unknown"],
      [" ".repeat(limit === MIB ? MIB + 1 : 20_000_000), 413, "larger than"],
    ];
    for (const [body, status, problem] of bodies) {
      if (body.length / 6 < 10_000 && problem === "10000 values") continue;
      const answer = (await drive.send(method, path, { body })).expect(status);
      assertErrorAnswer(answer);
      assertStringIncludes(answer.text, problem);
      assertEquals(answer.text.length < 1_000, true, answer.text.slice(0, 2_000));
    }
    assertEquals(await drive.names(), ["a"]);
  });
}

test("A refusal of an unknown field lists each field of the call once.", async (drive) => {
  for (const [method, path] of CALLS) {
    const answer = (await drive.send(method, path, { body: '{"nope": 1}' })).expect(400);
    const [problem = "", fields = ""] = answer.errors[0]?.split(": ") ?? [];
    assertEquals(problem, 'The field "nope" is unknown');
    const names = fields.match(/"\w+"/g) ?? [];
    assertEquals(names, [...new Set(names)], path);
    assertEquals(/^the only field is/.test(fields), names.length === 1, fields);
  }
});

test("What is no list is refused without a size that no list may have.", async (drive) => {
  const answer = (await drive.send("DELETE", "/files", { body: '{"names": "a"}' })).expect(400);
  assertEquals(answer.errors, ['The field "names" must be an array']);
});
