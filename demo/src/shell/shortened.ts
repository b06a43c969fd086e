const longest = 200

/** Cut where a letter ends. */
export function shortened(text: string): string {
  const letters = [...text]
  return letters.length <= longest ? text : `${letters.slice(0, longest).join('')} …`
}
