/** Part of the pure rules, as messages of the store need it as well. */
export { byteText } from "../drive/byte_text.ts";
