import { assertEquals, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { type S3Code, S3Error } from "../s3_error.ts";
import { formPayload, type PostForm, readForm } from "./post_form.ts";

const BOUNDARY = "----WebKitFormBoundary7MA4YWxk";
const LIMITS = { limit: 1_000_000, idle: 60_000 };

interface FormParts {
  fields?: [name: string, value: string][];
  fileName?: string;
  file?: string;
  /** Between the bytes of the file and the end of the body. */
  end?: string;
}

function encode({ fields = [], fileName = "a.txt", file = "hello", end }: FormParts): string {
  const parts = fields.map(([name, value]) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  );
  return parts.join("") +
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${fileName}"\r\n` +
    `Content-Type: text/plain\r\n\r\n${file}${end ?? `\r\n--${BOUNDARY}--\r\n`}`;
}

function requestOf(pieces: string[], type = `multipart/form-data; boundary=${BOUNDARY}`): Request {
  const queue = pieces.map((piece) => Buffer.from(piece));
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      const piece = queue.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(new Uint8Array(piece));
    },
  });
  const headers = { "content-type": type };
  return new Request("http://s3.example/bucket", { method: "POST", body, headers });
}

async function bytesOf({ file }: PostForm): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of file) pieces.push(piece.slice());
  return Buffer.concat(pieces).toString("latin1");
}

async function read(...pieces: string[]): Promise<{ fields: [string, string][]; file: string }> {
  const form = await readForm(requestOf(pieces), LIMITS);
  return { fields: [...form.fields], file: await bytesOf(form) };
}

async function refusal(body: string, code: S3Code = "MalformedPOSTRequest"): Promise<void> {
  const error = await assertRejects(() => read(body), S3Error);
  assertEquals(error.code, code, error.message);
}

Deno.test("a form is read however it is cut into two pieces, or into bytes", async () => {
  // Bytes that look like a boundary.
  const file = `\r\n--${BOUNDARY.slice(0, -1)}\r\n--\r\n`;
  const body = encode({ fields: [["Key", "a/b"], ["acl", ""]], file });
  const expected = { fields: [["key", "a/b"], ["acl", ""]] as [string, string][], file };
  for (let at = 0; at <= body.length; at++) {
    assertEquals(await read(body.slice(0, at), body.slice(at)), expected);
  }
  assertEquals(await read(...body), expected);
});

Deno.test("a preamble, spaces after a boundary, fields after the file and an epilogue are ignored", async () => {
  const submit =
    `\r\n--${BOUNDARY}\r\nContent-Disposition: form-data; name="submit"\r\n\r\nUpload\r\n--${BOUNDARY}--`;
  const body = `preamble\r\n${encode({ end: `${submit}\r\nepilogue` })}`
    .replace(`${BOUNDARY}\r\n`, `${BOUNDARY} \t\r\n`);
  assertEquals(await read(body), { fields: [], file: "hello" });
});

Deno.test("${filename} is replaced by the name of the file", async () => {
  const nameOf = async (fileName: string) => {
    const { fields } = await read(encode({ fields: [["key", "u/${filename}"]], fileName }));
    return fields[0]?.[1];
  };
  assertEquals(await nameOf("a b.txt"), "u/a b.txt");
  assertEquals(await nameOf("ä😀.txt"), "u/ä😀.txt");
  assertEquals(await nameOf("C:\\folder\\a.txt"), "u/a.txt");
  assertEquals(await nameOf("folder/a.txt"), "u/a.txt");
  assertEquals(await nameOf("a%22b%0D%0A%41.txt"), 'u/a"b\r\n%41.txt');
  assertEquals(await nameOf('a\\"; name=\\"b'), 'u/a"; name="b');
  assertEquals(await nameOf("$& $1"), "u/$& $1");
});

Deno.test("an empty file and a file without a name are read", async () => {
  assertEquals((await read(encode({ file: "" }))).file, "");
  const unnamed = encode({}).replace('; filename="a.txt"', "");
  assertEquals((await read(unnamed)).file, "hello");
});

Deno.test("a large file is streamed", async () => {
  const file = "0123456789\r\n--".repeat(50_000);
  const body = encode({ file });
  const pieces = Array.from(
    { length: Math.ceil(body.length / 65_536) },
    (_, i) => body.slice(i * 65_536, (i + 1) * 65_536),
  );
  assertEquals((await read(...pieces)).file, file);
});

Deno.test("malformed forms are refused", async () => {
  const body = encode({ fields: [["key", "a"]] });
  await refusal("");
  await refusal(`--${BOUNDARY}--\r\n`);
  await refusal(body.replace(`${BOUNDARY}\r\n`, `${BOUNDARY}x\r\n`));
  await refusal(body.replace("Content-Disposition", "Content-Type"));
  await refusal(body.replace('name="key"', 'title="key"'));
  await refusal(body.replace('name="key"', 'name=""'));
  await refusal(encode({ fields: [["key", "a"], ["KEY", "b"]] }));
  for (
    const end of ["", "\r\n", `\r\n--${BOUNDARY}`, `\r\n--${BOUNDARY}-`, `\r\n--${BOUNDARY}\r\n`]
  ) {
    await refusal(encode({ end }));
  }
  for (let at = 0; at < body.indexOf("hello"); at++) await refusal(body.slice(0, at));
  const invalid = requestOf([]);
  const bytes = Buffer.from(encode({ fields: [["key", "?"]] }).replace("?", "\xff"), "latin1");
  const request = new Request(invalid.url, {
    method: "POST",
    body: new Uint8Array(bytes),
    headers: invalid.headers,
  });
  assertEquals(await code(() => readForm(request, LIMITS)), "MalformedPOSTRequest");
});

async function code(work: () => Promise<unknown>): Promise<string> {
  return (await assertRejects(work, S3Error)).code;
}

Deno.test("boundaries follow the rules of RFC 2046", async () => {
  const types = [
    "text/plain",
    "multipart/form-data",
    "multipart/form-data; boundary=",
    'multipart/form-data; boundary="a "',
    'multipart/form-data; boundary="a{b"',
    `multipart/form-data; boundary=${"a".repeat(71)}`,
    "multipart/mixed; boundary=a",
  ];
  for (const type of types) {
    const error = await assertRejects(() => readForm(requestOf([""], type), LIMITS), S3Error);
    assertEquals(error.code, "MalformedPOSTRequest");
  }
  const body = encode({}).replaceAll(BOUNDARY, "a b:c");
  for (const type of ['boundary="a b:c"', 'charset=utf-8; BOUNDARY="a b:c"; x=y']) {
    const form = await readForm(requestOf([body], `Multipart/Form-Data; ${type}`), LIMITS);
    assertEquals(await bytesOf(form), "hello");
  }
});

Deno.test("fields before and after the file are bounded, and so is the whole form", async () => {
  await refusal(encode({ fields: [["x", "a".repeat(20_480)]] }), "MaxPostPreDataLengthExceeded");
  await refusal("a".repeat(20_481), "MaxPostPreDataLengthExceeded");
  await refusal(`--${BOUNDARY}${" ".repeat(30_000)}`, "MaxPostPreDataLengthExceeded");
  const end = `\r\n--${BOUNDARY}--${"a".repeat(30_000)}`;
  await refusal(encode({ end }), "MaxPostPreDataLengthExceeded");
  await refusal(encode({ file: "a".repeat(1_000_000) }), "EntityTooLarge");
});

Deno.test("the file of a form is a payload within the sizes of its policy", async () => {
  const payloadOf = async (fields: [string, string][], size?: { min: number; max: number }) => {
    const payload = formPayload(await readForm(requestOf([encode({ fields })]), LIMITS), size);
    let received = 0;
    for await (const piece of payload.bytes) received += piece.byteLength;
    const sha256 = createHash("sha256").update("hello").digest("base64");
    return payload.finish({ size: received, sha256 });
  };
  const md5 = createHash("md5").update("hello");
  const base64 = md5.copy().digest("base64");
  const digests = await payloadOf([["Content-MD5", base64]], { min: 5, max: 5 });
  assertEquals(digests, { md5: md5.digest("hex") });
  assertEquals(await code(() => payloadOf([], { min: 0, max: 4 })), "EntityTooLarge");
  assertEquals(await code(() => payloadOf([], { min: 6, max: 9 })), "EntityTooSmall");
  const wrong = base64.replace(/^./, (first) => first === "A" ? "B" : "A");
  assertEquals(await code(() => payloadOf([["content-md5", wrong]])), "BadDigest");
  const checksum: [string, string][] = [["x-amz-checksum-crc32", "AAAAAA=="]];
  assertEquals(await code(() => payloadOf(checksum)), "BadDigest");
});
