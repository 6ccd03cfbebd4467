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
/** Uploads that requests are about; older ones are left alone. */
const MOST_UPLOADS = 30;

/** What a server holds while it is being asked nonsense. */
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

  /** All that a refused request must leave as it was. */
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

  /** Notes the upload that an answer started. */
  learn(answer: Answer): void {
    if (answer.status !== 202) return;
    const { upload_id: id, drive_name: drive, name } = answer.json as Record<string, string>;
    if (id === undefined || drive === undefined || name === undefined) return;
    if (!DRIVES.includes(drive)) return;
    this.known.uploads.push({ id, drive, name });
    if (this.known.uploads.length > MOST_UPLOADS) this.known.uploads.shift();
  }

  /** What nothing wrote to is as it was, and the counts are those of the files. */
  async assertSound(): Promise<void> {
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
  416,
  429,
  431,
];

/** What holds for the answer to any request. */
export function judge(request: FuzzRequest, answer: Answer): void {
  const { status } = answer;
  assert(STATUSES.includes(status), `The status ${status}: ${answer.text.slice(0, 500)}`);
  assert(status >= 400 || !request.wrong, `The status ${status} where it had to be refused`);
  // The runtime answers what is not even HTTP; the rest is ours.
  if (!answer.headers.has("X-Request-Id")) return assertRefusedByRuntime(answer);
  if (status < 400 || request.method === "HEAD") return;
  // What it quotes is the caller's own.
  const text = answer.errors.join("\n").replace(/"(?:[^"\\]|\\.)*"/g, "");
  const sent = new TextDecoder().decode(request.bytes);
  const leak = LEAKS.find((one) => text.includes(one) && !sent.includes(one));
  assertEquals(leak, undefined, `${leak} is in ${text}`);
}

function assertRefusedByRuntime({ status, text }: Answer): void {
  assert([400, 414, 431].includes(status), `The status ${status} without X-Request-Id: ${text}`);
  assertEquals(text, "");
}
