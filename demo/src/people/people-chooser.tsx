import { Pill } from '@mantine/core'
import { PeopleSearch } from './people-search.tsx'
import type { Person } from './person-button.tsx'

interface PeopleChooserProps {
  chosen: readonly Person[]
  change(chosen: readonly Person[]): void
}

/** Several people; whoever is chosen again is not any more. */
export function PeopleChooser({ chosen, change }: PeopleChooserProps) {
  const without = ({ uid }: Person) => chosen.filter((each) => each.uid !== uid)

  function toggle(person: Person): void {
    const rest = without(person)
    change(rest.length === chosen.length ? [...chosen, person] : rest)
  }

  return (
    <>
      {chosen.length > 0 && (
        <Pill.Group>
          {chosen.map((person) => (
            <Pill
              key={person.uid}
              withRemoveButton
              removeButtonProps={{ 'aria-label': `Leave out ${person.name}`, 'aria-hidden': false, tabIndex: 0 }}
              onRemove={() => change(without(person))}
            >
              <span dir="auto">{person.name}</span>
            </Pill>
          ))}
        </Pill.Group>
      )}
      <PeopleSearch choose={toggle} chosen={chosen} />
    </>
  )
}
