import { hashSecret, newSecret } from "../drive/secrets.ts";
import type { Call } from "./call.ts";
import type { StoreCommand } from "./command.ts";
import { hasStore } from "./open_store.ts";

export const adminTokenCommands: readonly StoreCommand[] = [
  {
    name: "admin-token reset",
    asks: true,
    makesStore: true,
    summary: "make a new administrator's token; the present one ends",
    run: resetAdminToken,
  },
];

async function resetAdminToken(call: Call): Promise<void> {
  call.confirm(
    call.kv !== undefined || await hasStore(call.data)
      ? "Make a new administrator's token, so that the present one ends?"
      : `Make a new store in ${call.data}, with an administrator's token?`,
  );
  const token = newSecret();
  await call.withStore((store) => store.projects.setAdminToken(hashSecret(token)));
  call.answer({ admin_token: token }, [
    `Administrator's token:  ${token}`,
    "",
    "The token is shown once: keep it as you keep passwords. Servers that run know it within 5 seconds.",
  ]);
}
