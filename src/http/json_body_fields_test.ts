import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { someContext } from "./test_support.ts";
import { HttpError } from "./http_error.ts";
import { Fields, MAX_ADMIN_BODY } from "./json_body.ts";

const NOTHING_WRONG = () => undefined;

function read(body: string, known: readonly string[] = ["name", "on"]): Promise<Fields> {
  const request = new Request("http://kv.example/", { method: "POST", body });
  const context = someContext();
  return Fields.read({ request, context }, 60_000, known);
}

async function refusal(body: string): Promise<HttpError> {
  return await assertRejects(() => read(body), HttpError);
}

Deno.test("Fields are read from an object; an empty body is one without fields", async () => {
  const fields = await read('{"name": "a", "on": false}');
  assertEquals(fields.text("name", NOTHING_WRONG), "a");
  assertEquals(fields.flag("on"), false);
  assertEquals((await read("")).optionalText("name", NOTHING_WRONG), undefined);
});

Deno.test("Null is no text, and told apart from nothing where that matters", async () => {
  const fields = await read('{"name": null}');
  assertEquals(fields.optionalText("name", NOTHING_WRONG), undefined);
  assertEquals(fields.textOrNull("name", NOTHING_WRONG), null);
  assertEquals((await read("{}")).textOrNull("name", NOTHING_WRONG), undefined);
  assertThrows(() => fields.text("name", NOTHING_WRONG), HttpError, '"name" is missing');
});

Deno.test("What is no object with known fields is refused with their names", async () => {
  for (const body of ["[]", "null", "null x", '"name"', "1", "{", '["name"]']) {
    const { status, message } = await refusal(body);
    assertEquals([status, message.includes('with "name" and "on"')], [400, true], body);
  }
  for (const name of ["nam", "NAME", "__proto__", "constructor", ""]) {
    const { status, message } = await refusal(JSON.stringify({ name: "a" }).replace("name", name));
    assertEquals([status, message.includes(`"${name}" is not known`)], [400, true], name);
  }
});

Deno.test("A field of another type, or with a problem, is refused by its name", async () => {
  for (const value of [1, true, [], {}, ["a"]]) {
    const fields = await read(JSON.stringify({ name: value }));
    const error = assertThrows(() => fields.text("name", NOTHING_WRONG), HttpError);
    assertEquals([error.status, error.message], [400, 'The field "name" must be a string']);
  }
  const fields = await read('{"name": "a", "on": "true"}');
  assertThrows(() => fields.text("name", () => "is bad"), HttpError, 'The field "name" is bad');
  assertThrows(() => fields.flag("on"), HttpError, 'The field "on" must be true or false');
  const empty = await read("{}");
  assertThrows(() => empty.flag("on"), HttpError, 'The field "on" is missing');
});

Deno.test("A body that is larger than all fields together can be is refused", async () => {
  const { status, message } = await refusal(" ".repeat(MAX_ADMIN_BODY + 1));
  assertEquals([status, message.includes("parts")], [413, false]);
});
