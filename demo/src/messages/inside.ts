import { createContext, useContext } from 'react'

/**
 * The list is one stop for the Tab key. Arrows move between messages, and only what is inside the current one comes next
 * after it.
 */
export const IsCurrent = createContext(false)

export const useTabIndex = () => (useContext(IsCurrent) ? 0 : -1)
