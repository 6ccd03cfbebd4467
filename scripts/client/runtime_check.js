// Uses the package as a program does: node runtime_check.js URL KEY, or page.html#URL,KEY. It prints "ok", or throws.

// The name is one of the folder where this file is copied to.
const PACKAGE = "kvdrive-client";
const { connect, KvdriveError } = await import(PACKAGE);

const isPage = globalThis.document !== undefined;
const [url, key] = isPage
  ? location.hash.slice(1).split(",")
  : globalThis.Deno?.args ?? process.argv.slice(2);
const project = connect({ url, key });
const drive = project.drive(`drive of ${crypto.randomUUID()}`);

function check(isRight, what) {
  if (!isRight) throw new Error(`Wrong: ${what}`);
}

async function all(items) {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

const large = new Uint8Array(25 * 2 ** 20 + 3);
for (let i = 0; i < large.length; i += 997) large[i] = i % 251;

async function* pieces() {
  for (let start = 0; start < large.length; start += 2 ** 20) {
    yield large.subarray(start, start + 2 ** 20);
  }
}

const contents = {
  bytes: large,
  blob: new Blob([large]),
  stream: new Blob([large]).stream(),
  pieces: pieces(),
};
for (const [name, content] of Object.entries(contents)) {
  const progress = [];
  await drive.put(name, content, { onProgress: ({ sent }) => progress.push(sent) });
  check(progress.length === 3 && progress.at(-1) === large.length, "the progress");
  const file = await drive.get(name);
  check(file.size === large.length, "the size");
  const bytes = await file.bytes();
  check(bytes.length === large.length && bytes.every((byte, i) => byte === large[i]), name);
}
await drive.put("trip/a ü?#%2e.txt", "Hello", { contentType: "text/plain", resume: true });
const part = await drive.get("trip/a ü?#%2e.txt", { range: { start: 1, end: 3 } });
check(await part.text() === "el" && part.contentType === "text/plain", "a range");
check(await drive.get("missing") === undefined, "a missing file");
const names = (await all(drive.list({ recursive: false }))).map(({ name }) => name);
check(names.join() === "blob,bytes,pieces,stream,trip/", `the list ${names}`);
let iterated = 0;
for await (const chunk of (await drive.get("blob")).body) iterated += chunk.byteLength;
check(iterated === large.length, "the body as an iterable");
const link = await drive.links.create({ name: "blob" });
// Links and the administration are not for pages of other origins.
if (!isPage) check((await fetch(link.url, { method: "HEAD" })).status === 200, "a link");
const head = await drive.head("blob");
await drive.get("blob", { ifNoneMatch: head.etag }).then(
  () => check(false, "an unchanged file"),
  (error) => check(error.status === 304 && error.code === "not_modified", error),
);
await drive.move("missing", "b").then(
  () => check(false, "a move"),
  (error) => check(error instanceof KvdriveError && error.code === "file_not_found", error),
);
const began = Date.now();
await connect({ url: "http://127.0.0.1:9", key }).whoami().then(
  () => check(false, "an address without a server"),
  (error) => check(error.status === 0 && error.code === "unreachable", error),
);
check(Date.now() - began < 10_000, "the time until an address is given up");
const controller = new AbortController();
setTimeout(() => controller.abort(), 20);
await drive.put("aborted", pieces(), { signal: controller.signal }).then(
  () => check(false, "an aborted upload"),
  (error) => check(error.name === "AbortError", error),
);
check((await all(drive.uploads.list())).length === 0, "open uploads");
await drive.delete(...names.slice(0, 4));
if (!isPage) await project.deleteDrive(drive.name);
// deno-lint-ignore no-console
console.log("ok");
