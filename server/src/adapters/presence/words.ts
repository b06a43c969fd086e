/**
 * What nodes tell each other of their users. A node numbers what it says of itself, without gaps: whoever misses a number
 * has missed a word, and reads the node's users instead.
 */
export type Word = NumberedWord | { kind: 'gone'; node: string; at: number }

export type NumberedWord =
  | { kind: 'changed'; node: string; number: number; changes: ToldChange[] }
  /** The node has written down all of its users anew. */
  | { kind: 'rewritten'; node: string; number: number }

export type ToldChange = [appId: string, uid: string, isOnline: boolean, at: number]

export type Say = (word: Word) => void
