import type { Place } from "../store/records.ts";

/** What every call on an upload answers. */
export interface UploadAnswer {
  name: string;
  upload_id: string;
  project_id: string;
  drive_name: string;
}

export function uploadAnswer({ project, drive, name }: Place, id: string): UploadAnswer {
  return { name, upload_id: id, project_id: project, drive_name: drive };
}
