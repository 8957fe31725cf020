/**
 * Editors in processes of their own save documents while the kernel writes them. The variable DOCUMENT_SAVES sets the
 * number of saves.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createDocuments } from '../../src/adapters/documents/documents.ts'
import { type DocumentFiles, diskFiles } from '../../src/adapters/documents/files.ts'
import type { DocumentFileContent } from '../../src/adapters/documents/read-file.ts'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/store.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { DOCUMENT_NAMES, type DocumentName } from '../../src/domain/document.ts'
import { renderRuntimeBlock, replaceBlock } from '../../src/domain/runtime-block.ts'
import type { Store } from '../../src/ports/store.ts'
import { freshFolder } from '../support/open-app.ts'

const SAVES = Number(process.env.DOCUMENT_SAVES ?? 3_000)
const SAVER = fileURLToPath(new URL('editor-main.ts', import.meta.url))
/** Long enough for the file to change while it is read. */
const START = `# state\n- cycle_id: 0\n## notes\n(none)\n## filler\n${'words that stay where they are\n'.repeat(600)}`

/** Collects every line of an editor that is kept anywhere: in a stored version, or in a copy beside the file. */
class SavedLines {
  readonly lines = new Set<string>()

  note(text: string): void {
    const end = text.indexOf('## filler')
    for (const [line] of text.slice(0, end < 0 ? undefined : end).matchAll(/saved by \w+: \d+/g)) this.lines.add(line)
  }

  store(store: Store): Store {
    const commit: Store['commit'] = async (batches) => {
      const outcomes = await store.commit(batches)
      for (const [i, { ops }] of batches.entries())
        for (const op of ops) if (outcomes[i]?.ok && op.op === 'document') this.note(op.text)
      return outcomes
    }
    return Object.assign(Object.create(store), { commit })
  }

  files(files: DocumentFiles): DocumentFiles {
    return {
      ...files,
      saveCopy: (name, kind, text) => {
        this.note(text)
        return files.saveCopy(name, kind, text)
      },
    }
  }
}

async function openDocuments(t: TestContext, saved: SavedLines) {
  const root = freshFolder(t)
  const store = await openSqliteStore({ file: join(root, 'db'), clock: systemClock, writes: 'here' })
  const folder = join(root, 'kernels', 'default')
  const documents = createDocuments({
    ...{ kernelId: 'default', store: saved.store(store), clock: systemClock, mirror: null },
    files: saved.files(diskFiles(folder, systemClock)),
    fallback: diskFiles(join(root, 'fallback'), systemClock),
    ...{ needsAcceptance: () => false, redact: (text: string) => text, report: () => {} },
  })
  t.after(async () => {
    await documents.close()
    await store.close()
  })
  return { documents, folder }
}

function blockOf(cycle_id: string): string {
  const counts = { dispatched: 0, succeeded: 0, failed: 0, duration_ms: 1 }
  const outcome = { updated_at: 'now', status: 'success', failed_agents: [], agent_summary: '', error: null }
  return renderRuntimeBlock({ ...counts, ...outcome, cycle_id }, [], 5)
}

async function withSavers(
  t: TestContext,
  folder: string,
  savesPerFile: number,
  write: () => Promise<void>,
): Promise<void> {
  let running = DOCUMENT_NAMES.length
  const savers = DOCUMENT_NAMES.map(async (name) => {
    const args = [
      '--disable-warning=ExperimentalWarning',
      SAVER,
      join(folder, name),
      saverName(name),
      String(savesPerFile),
    ]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
    t.after(() => child.kill('SIGKILL'))
    const [code] = await once(child, 'exit')
    running -= 1
    assert.equal(code, 0)
  })
  while (running > 0) await write()
  await Promise.all(savers)
}

const saverName = (name: DocumentName): string => name.replace(/\W/g, '_')

function assertNothingLost(t: TestContext, saved: SavedLines, savesPerFile: number, cycles: number): void {
  const all = DOCUMENT_NAMES.flatMap((name) =>
    Array.from({ length: savesPerFile }, (_, n) => `saved by ${saverName(name)}: ${n}`),
  )
  const lost = all.filter((line) => !saved.lines.has(line))
  t.diagnostic(`${all.length} saves, ${cycles} cycles, ${lost.length} lost`)
  assert.deepEqual(lost, [])
}

test('I7: every save of an editor during a replacement of its file is found, however it saves', async (t) => {
  const saved = new SavedLines()
  const folder = freshFolder(t)
  const files = diskFiles(folder, systemClock)
  t.after(() => files.close())
  const collectEdits = async (name: DocumentName): Promise<DocumentFileContent> => {
    for (let edit = await files.findLateEdit(name); edit; edit = await files.findLateEdit(name)) {
      saved.note(edit.text)
      await edit.keep()
    }
    const found = await files.read(name)
    if (found.kind === 'text') saved.note(found.text)
    return found
  }
  const lastWritten = new Map<DocumentName, string>()
  let cycles = 0
  const write = async (name: DocumentName): Promise<void> => {
    const found = await collectEdits(name)
    const isText = found.kind === 'text' && found.text.trim() !== ''
    const before = isText ? found.text : (lastWritten.get(name) ?? START)
    const text = before.replace(/cycle_id: \d+/, `cycle_id: ${cycles}`)
    if (await files.replace(name, text, found)) lastWritten.set(name, text)
  }
  for (const name of DOCUMENT_NAMES) await write(name)
  const savesPerFile = Math.ceil(SAVES / DOCUMENT_NAMES.length)
  await withSavers(t, folder, savesPerFile, async () => {
    cycles += 1
    await Promise.all(DOCUMENT_NAMES.map(write))
  })
  for (const name of DOCUMENT_NAMES) await collectEdits(name)
  assertNothingLost(t, saved, savesPerFile, cycles)
})

test('I7: no save of an editor is lost while the kernel writes the same documents', async (t) => {
  const saved = new SavedLines()
  const { documents, folder } = await openDocuments(t, saved)
  for (const name of DOCUMENT_NAMES) await documents.seed(name, START.replace('- cycle_id: 0\n', ''))
  let cycles = 0
  const author = { author: 'system', reason: 'cycle' }
  const write = (name: DocumentName) =>
    documents
      .write(name, (text) => replaceBlock(text, blockOf(`c${cycles}`)), author)
      // An editor that saves all the time may win every time.
      .catch((thrown) => assert.equal(thrown.code, 'conflict'))
  const savesPerFile = Math.ceil(SAVES / 10 / DOCUMENT_NAMES.length)
  await withSavers(t, folder, savesPerFile, async () => {
    cycles += 1
    await Promise.all(DOCUMENT_NAMES.map(write))
  })
  for (const name of DOCUMENT_NAMES) saved.note((await documents.read(name))?.text ?? '')
  assertNothingLost(t, saved, savesPerFile, cycles)
})
