import type { Message } from "../../load.ts";
import { runToEnd, type Scope } from "../../scope.ts";
import { assert } from "../../server.ts";
import type { Peer } from "../peer.ts";
import { answers, freePort, PeerProcess } from "../process.ts";
import { sendOnce } from "../template.ts";

const COLLECTION = "bench";
const SUPERUSER = { identity: "bench@example.com", password: "bench-0123456789" };

/** A collection of records with one file each, which all callers may create and read. */
const SCHEMA = {
  name: COLLECTION,
  type: "base",
  createRule: "",
  viewRule: "",
  fields: [{ name: "file", type: "file", maxSelect: 1, maxSize: 2 ** 26 }],
};

const BOUNDARY = "kvdrive-bench-0123456789";

/** PocketBase with a collection that is open to all. It names each file itself. */
export const pocketbase: Peer = {
  name: "PocketBase",
  program: "pocketbase",
  version: ["--version"],
  async start(site) {
    const port = freePort();
    const origin = `http://127.0.0.1:${port}`;
    // Without a superuser it opens a browser.
    await makeSuperuser(site.scope, site.data);
    const process = await PeerProcess.start(
      site,
      {
        program: "pocketbase",
        args: ["serve", `--http=127.0.0.1:${port}`, `--dir=${site.data}`],
      },
      () => answers(`${origin}/api/health`, [200]),
    );
    return {
      process,
      origin,
      headers: {},
      setUp: () => makeCollection(origin),
      upload,
      async store(name, bytes) {
        const { id, file } = json<RecordOfFile>(await sendOnce(origin, upload(bytes), name));
        assert(typeof file === "string" && file !== "", "PocketBase stored no file");
        return `/api/files/${COLLECTION}/${id}/${file}`;
      },
    };
  },
};

interface RecordOfFile {
  id: string;
  file: string;
}

async function makeSuperuser(scope: Scope, data: string): Promise<void> {
  const { identity, password } = SUPERUSER;
  await runToEnd(scope, "pocketbase", {
    args: ["superuser", "upsert", identity, password, `--dir=${data}`],
  });
}

async function makeCollection(origin: string): Promise<void> {
  const post = (target: string, headers: Record<string, string>, value: unknown) =>
    sendOnce(origin, {
      method: "POST",
      target,
      headers: { "Content-Type": "application/json", ...headers },
      body: new TextEncoder().encode(JSON.stringify(value)),
    }, "");
  const path = "/api/collections/_superusers/auth-with-password";
  const { token } = json<{ token: string }>(await post(path, {}, SUPERUSER));
  await post("/api/collections", { Authorization: token }, SCHEMA);
}

function json<T>(bytes: Uint8Array): T {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** The upload of a file as a form. */
function upload(bytes: Uint8Array<ArrayBuffer>): Message {
  const encoder = new TextEncoder();
  const head = encoder.encode(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="file.bin"\r\n` +
      "Content-Type: application/octet-stream\r\n\r\n",
  );
  const tail = encoder.encode(`\r\n--${BOUNDARY}--\r\n`);
  const body = new Uint8Array(head.byteLength + bytes.byteLength + tail.byteLength);
  body.set(head);
  body.set(bytes, head.byteLength);
  body.set(tail, head.byteLength + bytes.byteLength);
  return {
    method: "POST",
    target: `/api/collections/${COLLECTION}/records`,
    headers: { "Content-Type": `multipart/form-data; boundary=${BOUNDARY}` },
    body,
  };
}
