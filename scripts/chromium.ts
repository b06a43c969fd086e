import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { folderOf } from './processes.ts'

const programs = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const onMacOs = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'

/** The browser that tests of pages open: the one that is named, or the first one that is installed. */
export function chromiumBinary(): string | undefined {
  const named = process.env.PARLEY_TEST_CHROMIUM
  if (named) return existsSync(named) ? named : undefined
  const program = programs.find((name) => folderOf(name))
  if (program) return join(folderOf(program) ?? '', program)
  return existsSync(onMacOs) ? onMacOs : undefined
}

// Each window makes ready what it would suggest to whoever types an address, in a process of its own. Nobody does, and it
// takes a second of CPU: more than half of what a window takes.
const suggestions = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup']
const withoutByPlaywright = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades', 'LensOverlay'],
  ...['HttpsFirstBalancedModeAutoEnable', 'MediaRouter', 'PaintHolding', 'ThirdPartyStoragePartitioning'],
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled'],
  'PreconnectToSearch',
]

/** Of two such lists the browser takes the last one, so it holds what Playwright does without, too. */
export const withoutSuggestions = `--disable-features=${[...suggestions, ...withoutByPlaywright].join(',')}`
