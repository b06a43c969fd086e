import { Container, SimpleGrid, Stack, Text, Title, UnstyledButton } from '@mantine/core'
import { PersonAvatar } from '../parts/person-avatar.tsx'
import type { DemoPerson } from '../state/install.ts'
import styles from './person-picker.module.css'

/** Choose who to be. Two windows may be two people. */
export function PersonPicker({ people, choose }: { people: readonly DemoPerson[]; choose(uid: string): void }) {
  return (
    <Container component="main" size="md" py="xl" className={styles.page ?? ''}>
      <Stack gap="lg">
        <Stack gap={4}>
          <Title order={1}>Who are you today?</Title>
          <Text c="var(--quiet)">
            Open this page in a second window to be somebody else there, and write to yourself.
          </Text>
        </Stack>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
          {people.map(({ uid, name, title }) => (
            <UnstyledButton key={uid} className={styles.person ?? ''} onClick={() => choose(uid)}>
              <PersonAvatar name={name} size={44} />
              <span>
                <Text fw={600}>{name}</Text>
                <Text c="var(--quiet)">{title}</Text>
              </span>
            </UnstyledButton>
          ))}
        </SimpleGrid>
      </Stack>
    </Container>
  )
}
