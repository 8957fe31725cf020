/** Documents with a real store and real files. */

import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createDocuments, type DocumentsOptions } from '../../src/adapters/documents/documents.ts'
import { type DocumentFiles, diskFiles } from '../../src/adapters/documents/files.ts'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/store.ts'
import { renderRuntimeBlock, replaceBlock } from '../../src/domain/runtime-block.ts'
import type { Documents } from '../../src/ports/documents.ts'
import type { Store } from '../../src/ports/store.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

export interface Fixture {
  readonly documents: Documents
  readonly told: { readonly event: string; readonly message: string }[]
  readonly folder: string
  readonly state: string
  readonly clock: FakeClock
  readonly files: DocumentFiles
  readonly store: Store
  /** Creates another instance on the same home, as after a restart. */
  again(more?: Partial<DocumentsOptions>): Documents
  edit(text: string | ((text: string) => string)): void
  file(): string
  beside(kind: string): string[]
}

export async function createFixture(t: TestContext, more: Partial<DocumentsOptions> = {}): Promise<Fixture> {
  const root = fs.mkdtempSync(join(tmpdir(), 'tireless-documents-'))
  const clock = new FakeClock()
  const store = await openSqliteStore({ file: join(root, 'db'), clock, writes: 'here' })
  const folder = join(root, 'kernels', 'default')
  const state = join(folder, 'STATE.md')
  const reports: Fixture['told'] = []
  const instances: { close(): Promise<void> }[] = []
  const files = diskFiles(folder, clock)
  const again = (changes: Partial<DocumentsOptions> = {}): Documents => {
    const created = createDocuments({
      ...{ kernelId: 'default', store, clock, files, fallback: diskFiles(join(root, 'fallback'), clock) },
      ...{
        mirror: null,
        needsAcceptance: () => false,
        redact: (text: string) => text.replaceAll('hunter2-hunter2', '(secret)'),
      },
      report: (event, { message = '' }) => reports.push({ event, message }),
      ...more,
      ...changes,
    })
    instances.push(created)
    return created
  }
  t.after(async () => {
    for (const instance of instances) await instance.close()
    await store.close()
    fs.rmSync(root, { recursive: true })
  })
  const file = (): string => fs.readFileSync(state, 'utf8')
  return {
    ...{ told: reports, folder, state, clock, again, file, files, store },
    documents: again(),
    edit(change) {
      const text = typeof change === 'string' ? change : change(file())
      fs.mkdirSync(folder, { recursive: true })
      fs.writeFileSync(state, text)
    },
    beside: (kind) => fs.readdirSync(folder).filter((name) => name.startsWith(`STATE.md.${kind}-`)),
  }
}

export const renderTestBlock = (cycle_id: string): string => {
  const counts = { dispatched: 0, succeeded: 0, failed: 0, duration_ms: 1 }
  const said = { updated_at: 'now', status: 'success', failed_agents: [], agent_summary: '', error: null }
  return renderRuntimeBlock({ ...counts, ...said, cycle_id }, [], 5)
}

export const writeCycle = (documents: Documents, id: string) =>
  documents.write('STATE.md', (text) => replaceBlock(text, renderTestBlock(id)), {
    author: 'system',
    reason: 'cycle',
    cycle_id: id,
  })

export const writeAsAgent = (documents: Documents, change: (text: string) => string) =>
  documents.write('STATE.md', change, { author: 'agent', reason: 'edit_state' })

export const readState = async (documents: Documents): Promise<string | undefined> =>
  (await documents.read('STATE.md'))?.text
