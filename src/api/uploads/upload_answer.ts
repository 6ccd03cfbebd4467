import type { Place } from "../../store/engine/records.ts";

/** The fields of every answer about an upload. */
export interface UploadAnswer {
  name: string;
  upload_id: string;
  project_id: string;
  drive_name: string;
}

/** The answer about the upload `id` to the file at `place`. */
export function uploadAnswer({ project, drive, name }: Place, id: string): UploadAnswer {
  return { name, upload_id: id, project_id: project, drive_name: drive };
}

/** Sentences that describe the errors of several operations on an upload. */
export const uploadFailures = {
  notFound: "The upload does not exist in this drive, or has expired or was aborted.",
  otherName: "The name is missing, invalid, or not that of the upload.",
  completed: "The upload is complete.",
} as const;
