import { useState } from 'react'
import { Failed, Loading } from './parts/states.tsx'
import { PersonPicker } from './people/person-picker.tsx'
import { Shell } from './shell/shell.tsx'
import { ChatProvider } from './state/chat.tsx'
import { useInstall } from './state/install.ts'
import { rememberedPerson, rememberPerson } from './state/person.ts'

/** Somebody is chosen, and then they chat until they leave. */
export function App() {
  const install = useInstall()
  const [uid, setUid] = useState(rememberedPerson)

  function become(next: string | undefined): void {
    rememberPerson(next)
    setUid(next)
  }

  if (install.status === 'loading') return <Loading what="the page" />
  if (install.status === 'failed') return <Failed what="The page could not be loaded." retry={install.retry} />
  if (uid === undefined) return <PersonPicker people={install.value.people} choose={become} />
  return (
    <ChatProvider key={uid} install={install.value} uid={uid} leave={() => become(undefined)}>
      <Shell />
    </ChatProvider>
  )
}
