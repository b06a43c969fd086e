import '@mantine/core/styles.css'
import './page.css'
import { MantineProvider } from '@mantine/core'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { refuseStrayDrops } from './composer/use-file-drop.ts'
import { Broken } from './parts/broken.tsx'
import { Rescue } from './parts/rescue.tsx'
import { theme } from './theme.ts'

const page = document.getElementById('page')
if (!page) throw new Error('The page has no place to be shown in.')

refuseStrayDrops()
createRoot(page).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <Rescue otherwise={<Broken />}>
        <App />
      </Rescue>
    </MantineProvider>
  </StrictMode>,
)
