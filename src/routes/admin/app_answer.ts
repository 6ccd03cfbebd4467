import { isoSeconds } from "../../drive/iso_time.ts";
import type { AppKeyInfo } from "../../store/app_key_store.ts";
import type { AppInfo } from "../../store/app_store.ts";

/** What every answer on an application is. */
export interface AppAnswer {
  name: string;
  project_id: string;
  upstream: string | null;
  host: string | null;
  access: { enabled: boolean };
  created: string;
}

export function appAnswer({ app, project, upstream, host, access, created }: AppInfo): AppAnswer {
  return {
    name: app,
    project_id: project,
    upstream: upstream ?? null,
    host: host ?? null,
    access: { enabled: access },
    created: isoSeconds(created),
  };
}

/** What every answer on a key of an application has. */
export interface AppKeyAnswer {
  name: string;
  description: string | null;
  prefix: string;
  created: string;
}

export function appKeyAnswer({ name, description, prefix, created }: AppKeyInfo): AppKeyAnswer {
  return { name, description: description ?? null, prefix, created: isoSeconds(created) };
}
