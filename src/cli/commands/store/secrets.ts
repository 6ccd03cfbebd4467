import { hashSecret, newSecret } from "../../../rules/secrets.ts";
import { hasStore } from "../local_store.ts";
import type { CommandCall } from "../command_call.ts";

export async function resetAdminToken(call: CommandCall): Promise<void> {
  call.confirm(
    call.kv !== undefined || await hasStore(call.data)
      ? "Replace the administrator's token? The current one stops working."
      : `Create a new store in ${call.data}, with an administrator's token?`,
  );
  const token = newSecret();
  await call.withStore((store) => store.adminToken.set(hashSecret(token)));
  call.print({ admin_token: token }, [
    `Administrator's token:  ${token}`,
    "",
    "The token is shown only once: store it like a password. Running servers accept it within 5 seconds.",
  ]);
}

export async function rotateLinkKey(call: CommandCall): Promise<void> {
  call.confirm("Revoke all links of all projects? Their addresses never open anything again.");
  await call.withStore((store) => store.links.rotateKey());
  call.print({ revoked: "all" }, [
    "All links are revoked. Running servers refuse them within 5 seconds.",
  ]);
}
