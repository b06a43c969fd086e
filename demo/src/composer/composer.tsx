import type { Conversation } from '@parley/sdk'
import { useState } from 'react'

export function Composer({ conversation }: { conversation: Conversation }) {
  const [text, setText] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        conversation.send({ text })
        setText('')
      }}
    >
      <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
    </form>
  )
}
