import type { Answer } from "./answer.ts";
import { type Drive, query } from "./drive.ts";

export interface UploadDetails {
  name: string;
  upload_id: string;
  project_id: string;
  drive_name: string;
  created: string;
  expires: string;
  parts: { part: number; size: number }[];
}

/** One upload in parts. The calls answer whatever the server says: the caller expects a status. */
export class Upload {
  constructor(readonly drive: Drive, readonly name: string, readonly id: string) {}

  static async start(
    drive: Drive,
    name: string,
    headers: Record<string, string> = {},
  ): Promise<Upload> {
    const answer = await drive.send("POST", `/uploads${query({ name })}`, { headers });
    const { upload_id } = answer.expect(202).json as { upload_id: string };
    return new Upload(drive, name, upload_id);
  }

  /** The same upload as a client that is wrong about its drive or name would call it. */
  as(change: { drive?: Drive; name?: string; id?: string }): Upload {
    return new Upload(change.drive ?? this.drive, change.name ?? this.name, change.id ?? this.id);
  }

  get path(): string {
    return `/uploads/${encodeURIComponent(this.id)}`;
  }

  async send(
    part: number | string,
    body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const path = `${this.path}/parts${query({ name: this.name, part })}`;
    return await this.drive.send("POST", path, { body, headers });
  }

  async complete(headers: Record<string, string> = {}): Promise<Answer> {
    return await this.drive.send("PATCH", this.path + query({ name: this.name }), { headers });
  }

  async abort(): Promise<Answer> {
    return await this.drive.send("DELETE", this.path + query({ name: this.name }));
  }

  async lookUp(): Promise<Answer> {
    return await this.drive.send("GET", this.path + query({ name: this.name }));
  }

  async parts(): Promise<{ part: number; size: number }[]> {
    return ((await this.lookUp()).expect(200).json as UploadDetails).parts;
  }
}

/** Uploads the parts one after another and completes the upload. */
export async function uploadParts(
  drive: Drive,
  name: string,
  parts: readonly Uint8Array<ArrayBuffer>[],
  headers: Record<string, string> = {},
): Promise<Upload> {
  const upload = await Upload.start(drive, name, headers);
  for (const [index, bytes] of parts.entries()) (await upload.send(index + 1, bytes)).expect(200);
  (await upload.complete()).expect(200);
  return upload;
}
