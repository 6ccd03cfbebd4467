import { assert, assertEquals } from "@std/assert";
import type { Answer } from "../../../support/answer.ts";
import { assertSameBytes, KIB, patternBytes } from "../../../support/bytes.ts";
import {
  Drive,
  type FileDetails,
  type Listing,
  query,
  send,
  Upload,
} from "../../../support/drive.ts";
import { PROJECT_ID, type TestServer } from "../../../support/server.ts";
import { LEAKS } from "../../../support/suite.ts";
import { type FuzzRequest, STABLE } from "./request.ts";
import { DRIVES, type Known, type KnownUpload } from "./text.ts";

const STABLE_SIZES = [0, 100, 200 * KIB];
/** Known uploads. Older ones are forgotten. */
const MAX_UPLOADS = 30;

/** The content of a server that receives generated requests. */
export class FuzzWorld {
  readonly known: Known = { uploads: [], etags: [] };
  private readonly drives: Drive[];

  constructor(private readonly server: TestServer) {
    this.drives = DRIVES.map((name) => new Drive(server, name));
  }

  async prepare(): Promise<void> {
    for (const drive of this.drives) {
      for (const [i, name] of STABLE.entries()) {
        await drive.put(name, patternBytes(STABLE_SIZES[i] ?? 0, i));
        this.known.etags.push(await drive.etag(name));
      }
      const upload = await Upload.start(drive, "open");
      (await upload.send(1, patternBytes(10))).expect(200);
    }
  }

  /** Returns the state that a rejected request must not change. */
  async state(upload: KnownUpload | undefined): Promise<unknown> {
    return await Promise.all([
      send(this.server, "GET", `/v1/${PROJECT_ID}`).then((answer) => answer.expect(200).json),
      ...["apps", "apps/notes/keys", "keys"].map((what) => this.administered(what)),
      ...this.drives.map((drive) => drive.list({ details: "true" })),
      ...this.drives.map(async (drive) => (await drive.send("GET", "/uploads")).text),
      upload === undefined ? undefined : this.lookUp(upload),
    ]);
  }

  private async administered(what: string): Promise<string> {
    return (await send(this.server, "GET", `/admin/v1/projects/${PROJECT_ID}/${what}`)).text;
  }

  private async lookUp({ drive, id, name }: KnownUpload): Promise<string> {
    return (await new Upload(new Drive(this.server, drive), name, id).lookUp()).text;
  }

  /** Records the upload that a response started. */
  record(answer: Answer): void {
    if (answer.status !== 202) return;
    const { upload_id: id, drive_name: drive, name } = answer.json as Record<string, string>;
    if (id === undefined || drive === undefined || name === undefined) return;
    if (!DRIVES.includes(drive)) return;
    this.known.uploads.push({ id, drive, name });
    if (this.known.uploads.length > MAX_UPLOADS) this.known.uploads.shift();
  }

  /** Asserts that stable files are unchanged, and that the counts match the files. */
  async assertUnchanged(): Promise<void> {
    for (const drive of this.drives) {
      for (const [i, name] of STABLE.entries()) {
        const { bytes } = (await drive.get(name)).expect(200);
        assertSameBytes(bytes, patternBytes(STABLE_SIZES[i] ?? 0, i), name);
      }
      const files = await allFiles(drive);
      const bytes = files.reduce((sum, { size }) => sum + size, 0);
      assertEquals(await drive.usage(), { files: files.length, bytes });
    }
  }
}

async function allFiles(drive: Drive): Promise<FileDetails[]> {
  const files: FileDetails[] = [];
  for (let last: string | undefined = "";;) {
    const answer: Answer = await drive.send("GET", `/files${query({ details: "true", last })}`);
    const page: Listing = answer.expect(200).json as Listing;
    files.push(...page.files ?? []);
    last = page.paging?.last;
    if (last === undefined) return files;
  }
}

const STATUSES = [
  200,
  201,
  202,
  204,
  206,
  304,
  400,
  401,
  403,
  404,
  405,
  409,
  412,
  413,
  414,
  415,
  416,
  429,
  431,
];

/** Asserts that a response is correct for its request. */
export function assertCorrect(request: FuzzRequest, answer: Answer): void {
  const { status } = answer;
  assert(STATUSES.includes(status), `Status ${status}: ${answer.text.slice(0, 500)}`);
  assert(status >= 400 || !request.wrong, `Status ${status} for a request that must be rejected`);
  // Responses to malformed HTTP have no id.
  if (!answer.headers.has("X-Request-Id")) return assertMalformedRejected(answer);
  if (status < 400 || request.method === "HEAD") return;
  // Quoted values come from the request.
  const text = answer.errors.join("\n").replace(/"(?:[^"\\]|\\.)*"/g, "");
  const sent = new TextDecoder().decode(request.bytes);
  const leak = LEAKS.find((one) => text.includes(one) && !sent.includes(one));
  assertEquals(leak, undefined, `${leak} is in ${text}`);
}

function assertMalformedRejected({ status, text }: Answer): void {
  assert([400, 414, 431].includes(status), `Status ${status} without X-Request-Id: ${text}`);
  assertEquals(text, "");
}
