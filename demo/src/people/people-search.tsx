import { useCallback, useState } from 'react'
import { SearchField } from '../parts/search-field.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { useChat } from '../state/chat.tsx'
import { useFound } from '../state/use-found.ts'
import styles from './people-search.module.css'
import { type Person, PersonButton } from './person-button.tsx'

interface PeopleSearchProps {
  choose(person: Person): void
  /** Where several can be chosen: those who are. */
  chosen?: readonly Person[]
}

const shown = 50

/** Finds people by a part of their name. */
export function PeopleSearch({ choose, chosen }: PeopleSearchProps) {
  const { client, me } = useChat()
  const [words, setWords] = useState('')
  const find = useCallback(
    async (searchKey: string) => {
      const people = await client.users.list({ ...(searchKey && { searchKey }), perPage: shown }).take(shown)
      return people.filter(({ uid }) => uid !== me.uid)
    },
    [client, me.uid],
  )
  const { items, status, words: searched, retry } = useFound(words, find)

  return (
    <div className={styles.search}>
      <SearchField label="Find people" placeholder="A part of their name" words={words} change={setWords} />
      <div className={styles.found} aria-busy={status === 'loading'}>
        {items.length === 0 && status === 'loading' && <Loading what="people" rows={4} />}
        {status === 'failed' && <Failed what="People could not be fetched." retry={retry} />}
        {items.length === 0 && status === 'ready' && <Empty what={nobody(searched)} />}
        <ul className={styles.people} aria-label="People">
          {items.map((person) => (
            <li key={person.uid}>
              <PersonButton
                person={person}
                choose={() => choose(person)}
                isChosen={chosen?.some(({ uid }) => uid === person.uid)}
              />
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}

const nobody = (words: string) => (words === '' ? 'There is nobody to be found.' : `Nobody is called “${words}”.`)
