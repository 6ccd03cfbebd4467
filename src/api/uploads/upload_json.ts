import type { Place } from "../../store/engine/records.ts";

/** The fields of an upload in every response. */
export interface UploadJson {
  name: string;
  upload_id: string;
  project_id: string;
  drive_name: string;
}

/** The upload `id` of the file at `place` as JSON. */
export function uploadJson({ project, drive, name }: Place, id: string): UploadJson {
  return { name, upload_id: id, project_id: project, drive_name: drive };
}

/** Sentences that describe the errors of several operations on an upload. */
export const uploadFailures = {
  notFound: "The upload does not exist in this drive, or has expired or was aborted.",
  otherName: "The name is missing, invalid, or not that of the upload.",
  completed: "The upload is complete.",
} as const;
