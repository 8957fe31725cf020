/** The documents of the kernel: which there are, edits by the owner, and copies saved next to their files. */

import { z } from 'zod'
import { DOCUMENT_NAMES, type DocumentName, type DocumentVersion, SAVED_COPY_KINDS } from '../domain/document.ts'
import { TirelessError } from '../domain/error.ts'
import { CLEAN_LABEL, lowestLabel } from '../domain/label.ts'
import { extractBlock, placeBlockLast } from '../domain/runtime-block.ts'
import type { Documents } from '../ports/documents.ts'
import { defineCommand } from './lib/command.ts'
import { documentInput, labelFields, ownText, readCopy, readLatest, versionShape } from './state.ts'

const copyShape = z.object({ file: z.string(), kind: z.enum(SAVED_COPY_KINDS), ts: z.string() })

export const documentsList = defineCommand({
  name: 'documents list',
  summary: 'list the documents with version, label, pending edits, and copies saved next to their files',
  example: 'documents list',
  runsIn: 'any_process',
  needs: ['documents'],
  input: z.object({}),
  output: z.object({
    items: z.array(
      z.object({
        name: z.enum(DOCUMENT_NAMES),
        latest: versionShape.nullable().describe('null: it does not exist yet'),
        pending: z.boolean().describe('its file was edited, and you must accept the edit first'),
        ...labelFields,
        copies: z.array(copyShape).describe('newest first'),
      }),
    ),
    degraded: z.string().nullable().describe('what does not work now, and what happens instead'),
  }),
  async run({ documents }) {
    const items = []
    for (const name of DOCUMENT_NAMES) items.push(await describeDocument(documents, name))
    return { items, degraded: documents.degraded() }
  },
})

async function describeDocument(documents: Documents, name: DocumentName) {
  const found = await documents.read(name)
  const { text = '', ...latest } = found ?? {}
  const labelled = await documents.labels(name, text)
  return {
    ...{
      name,
      latest: found ? (latest as DocumentVersion) : null,
      pending: (await documents.pending(name)) !== undefined,
    },
    ...labelled.map(({ label }) => label).reduce(lowestLabel, CLEAN_LABEL),
    copies: [...(await documents.copies(name))],
  }
}

export const stateEdit = defineCommand({
  name: 'state edit',
  summary: 'replace your text of a document; refused if it changed since the version that you edited',
  example: 'state edit "# Goal" --document GOAL.md --base 3',
  runsIn: 'any_process',
  needs: ['documents'],
  positional: ['text'],
  input: z.object({
    text: z.string().describe('the new text, without the part that the system writes'),
    document: documentInput,
    base: z.coerce
      .number()
      .int()
      .nonnegative()
      .optional()
      .describe('the version that you edited, 0 if there was none; default: the latest'),
    reason: z.string().trim().max(200).default('edited by the owner').describe('why, for state log'),
  }),
  output: versionShape,
  async run({ documents }, { text, document: name, base, reason }) {
    const edited = base === undefined ? undefined : await editedText(documents, name, base)
    const change = (now: string): string => {
      if (edited !== undefined && ownText(name, now) !== edited) throw changedError(name)
      if (ownText(name, now) === text) return now
      return name === 'STATE.md' ? placeBlockLast({ text, block: extractBlock(now).block }) : text
    }
    return documents.write(name, change, { author: 'owner', reason })
  },
})

/** The owner's part of the version that was edited. What the system writes between its marks is no conflict. */
async function editedText(documents: Documents, name: DocumentName, base: number): Promise<string> {
  if (base === 0) return ''
  const version = await documents.version(name, base)
  if (!version) throw changedError(name)
  return ownText(name, version.text)
}

const changedError = (name: DocumentName): TirelessError =>
  new TirelessError('conflict', {
    what: 'the document changed since the version that you edited; nothing was written',
    where: name,
    fix: 'see what changed: tireless state diff; then edit the latest version',
  })

export const stateTake = defineCommand({
  name: 'state take',
  summary: 'use a copy that was saved next to the file of a document: it becomes the latest version',
  example: 'state take STATE.md.conflict-2030-01-31T10-00-00.000Z',
  runsIn: 'any_process',
  needs: ['documents'],
  positional: ['copy'],
  input: z.object({
    copy: z.string().min(1).describe('name of the copy, from documents list'),
    document: documentInput,
  }),
  output: versionShape,
  async run({ documents }, { copy, document: name }) {
    const text = ownText(name, await readCopy(documents, name, copy))
    const change = (now: string): string =>
      name === 'STATE.md' ? placeBlockLast({ text, block: extractBlock(now).block }) : text
    return documents.write(name, change, { author: 'owner', reason: `took ${copy}` })
  },
})

export const stateDiscard = defineCommand({
  name: 'state discard',
  summary: 'delete a copy that was saved next to the file of a document',
  example: 'state discard STATE.md.conflict-2030-01-31T10-00-00.000Z',
  runsIn: 'any_process',
  needs: ['documents'],
  positional: ['copy'],
  input: z.object({
    copy: z.string().min(1).describe('name of the copy, from documents list'),
    document: documentInput,
  }),
  output: z.object({ copy: z.string(), removed: z.boolean() }),
  async run({ documents }, { copy, document: name }) {
    await readLatest(documents, name)
    return { copy, removed: await documents.removeCopy(name, copy) }
  },
  exitCode: ({ removed }) => (removed ? 0 : 1),
})
