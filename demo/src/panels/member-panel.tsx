import { ScrollArea } from '@mantine/core'
import { useState } from 'react'
import { mayLiftBans, ownStanding } from '../groups/rights.ts'
import { ConfirmDialog, type Question } from '../parts/confirm-dialog.tsx'
import { Failed, Loading } from '../parts/states.tsx'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'
import { BannedList } from './banned-list.tsx'
import { GroupSummary } from './group-summary.tsx'
import { MemberList } from './member-list.tsx'
import { PanelHead } from './panel-head.tsx'

/** A group: what it is, who is in it, and what the user may do about it. */
export function MemberPanel({ guid }: { guid: string }) {
  const { client, me } = useChat()
  const group = client.group(guid)
  const details = useStore(group.details)
  const [question, ask] = useState<Question>()
  const { status } = useStore(group.members)
  const own = details && ownStanding(details, me.uid)

  return (
    <>
      <PanelHead title="Members" />
      {details && own ? (
        <ScrollArea flex={1} mih={0} type="auto">
          <GroupSummary group={group} details={details} own={own} ask={ask} />
          <MemberList group={group} owner={details.owner} own={own} ask={ask} />
          {mayLiftBans(own) && <BannedList group={group} />}
        </ScrollArea>
      ) : (
        <Unknown isFailed={status === 'failed'} retry={() => void group.members.loadMore().catch(() => {})} />
      )}
      <ConfirmDialog question={question} close={() => ask(undefined)} />
    </>
  )
}

function Unknown({ isFailed, retry }: { isFailed: boolean; retry(): void }) {
  return isFailed ? <Failed what="The group could not be fetched." retry={retry} /> : <Loading what="the group" />
}
