import { Drive, query } from "../../support/drive.ts";
import type { TestServer } from "../../support/server.ts";
import { Upload } from "../../support/upload.ts";

/** Aborts every upload that the server knows, those too whose clients never learned of them. */
export async function abortAll(server: TestServer, drives: readonly string[]): Promise<void> {
  for (const name of drives) {
    const drive = new Drive(server, name);
    for (const { name: file, upload_id } of await openUploads(drive)) {
      (await new Upload(drive, file, upload_id).abort()).expect(200);
    }
    const left = await openUploads(drive);
    if (left.length > 0) throw new Error(`${left.length} uploads are open after they were aborted`);
  }
}

async function openUploads(drive: Drive): Promise<{ name: string; upload_id: string }[]> {
  const uploads: { name: string; upload_id: string }[] = [];
  for (let last = "";;) {
    const answer = await drive.send("GET", `/uploads${query({ limit: 1000, last })}`);
    const page = answer.expect(200).json as {
      uploads: { name: string; upload_id: string }[];
      paging?: { last: string };
    };
    uploads.push(...page.uploads);
    if (page.paging === undefined) return uploads;
    last = page.paging.last;
  }
}
