/** The card in the corner with running transfers. */
export function TransferCard() {
  return null;
}
