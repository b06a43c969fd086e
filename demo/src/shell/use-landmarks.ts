import { useEffect } from 'react'

/** F6 goes from one part of the page to the next, with Shift to the one before; Escape goes to where messages are written. */
export function useLandmarks(): void {
  useEffect(() => {
    function hear(event: KeyboardEvent): void {
      if (event.defaultPrevented || event.isComposing) return
      if (event.key === 'F6') {
        event.preventDefault()
        goOn(event.shiftKey ? -1 : 1)
      }
      if (event.key === 'Escape' && !isOfSomethingOpen(event.target)) composer()?.focus()
    }
    document.addEventListener('keydown', hear)
    return () => document.removeEventListener('keydown', hear)
  }, [])
}

function goOn(step: 1 | -1): void {
  const landmarks = [...document.querySelectorAll<HTMLElement>('nav, main, aside')].filter(isShown)
  const at = landmarks.findIndex((landmark) => landmark.contains(document.activeElement))
  const next = at === -1 ? 0 : (at + step + landmarks.length) % landmarks.length
  placeIn(landmarks[next])?.focus()
}

/** Where somebody who comes into a part wants to be: where they write, at the tab stop of a list, or at the first button. */
const places = ['textarea', 'input', 'a[tabindex="0"]', 'button:not(:disabled)', 'a[href]']

function placeIn(landmark: HTMLElement | undefined): HTMLElement | undefined {
  for (const place of places) {
    const found = [...(landmark?.querySelectorAll<HTMLElement>(place) ?? [])].find(isShown)
    if (found) return found
  }
  return undefined
}

function composer(): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>('main textarea')].find(isShown)
}

/** Dialogs, menus and their buttons have their own use for Escape. */
function isOfSomethingOpen(target: EventTarget | null): boolean {
  const open = '[role="dialog"], [role="menu"], [role="listbox"], [aria-expanded="true"]'
  return target instanceof Element && target.closest(open) !== null
}

function isShown(element: HTMLElement): boolean {
  return element.offsetParent !== null && element.closest('[aria-hidden="true"]') === null
}
