/** The part MCP servers of Settings. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import { Button, Section } from '../components.tsx'
import { NotFetched } from '../tabbed-place.tsx'
import { MCP_TEXTS } from '../texts/settings/mcp.ts'
import { useFetched } from '../use-fetched.ts'
import { AddServer } from './add-server.tsx'
import { EntryList } from './frame.tsx'
import type { PartProps } from './parts.ts'
import { ServerEntry } from './server-entry.tsx'

export function Servers(props: PartProps) {
  const { page, language } = props
  const own = MCP_TEXTS[language]
  const [isAdding, setAdding] = useState(false)
  const fetched = useFetched(page, '', () => readCommand('mcp list'))
  if (fetched.kind !== 'ready') return <NotFetched {...props} state={fetched} />
  const { items } = fetched.data
  return (
    <div class="flex flex-col gap-6">
      <p class="max-w-2xl text-muted">{own.intro}</p>
      {isAdding ? (
        <AddServer {...props} onClose={() => setAdding(false)} />
      ) : (
        <p>
          <Button look="main" onClick={() => setAdding(true)}>
            {own.add}
          </Button>
        </p>
      )}
      <Section title={own.list}>
        <EntryList label={own.list} empty={own.empty}>
          {items.map((server) => (
            <ServerEntry key={server.name} {...props} server={server} />
          ))}
        </EntryList>
      </Section>
    </div>
  )
}
