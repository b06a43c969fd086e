/** Who somebody is in this window. Another window may be somebody else, so it is not kept for all of them. */

const key = 'parley.person'

export const rememberedPerson = () => sessionStorage.getItem(key) ?? undefined

export function rememberPerson(uid: string | undefined): void {
  if (uid === undefined) sessionStorage.removeItem(key)
  else sessionStorage.setItem(key, uid)
}
