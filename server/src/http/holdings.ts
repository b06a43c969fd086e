/** Somebody for whom memory is held, and who can be let go. */
export interface Holder {
  heldBytes: number
  close(): void
}

/**
 * What is held in memory for clients: answers that they have not taken, bodies that they are sending, requests that they
 * sent ahead of their turn. All of it together is bounded. Beyond the bound, whoever has not moved for longest is let go, so
 * that those who read and send are not the ones to suffer from those who do not.
 */
export interface Holdings {
  bytes(): number
  hold(holder: Holder, bytes: number): void
  release(holder: Holder, bytes: number): void
  /** Something of theirs was taken, or came in. */
  moved(holder: Holder): void
}

export function createHoldings(bytesMax: number): Holdings {
  // In the order in which they last moved.
  const holders = new Set<Holder>()
  let total = 0

  function release(holder: Holder, bytes: number): void {
    // Whoever was let go holds nothing any more.
    const released = Math.min(bytes, holder.heldBytes)
    holder.heldBytes -= released
    total -= released
    if (holder.heldBytes === 0) holders.delete(holder)
  }

  function letStalestGo(): void {
    for (const holder of holders) {
      if (total <= bytesMax) return
      release(holder, holder.heldBytes)
      holder.close()
    }
  }

  return {
    bytes: () => total,
    hold(holder, bytes) {
      holders.add(holder)
      holder.heldBytes += bytes
      total += bytes
      if (total > bytesMax) letStalestGo()
    },
    release,
    moved(holder) {
      if (holders.delete(holder)) holders.add(holder)
    },
  }
}
