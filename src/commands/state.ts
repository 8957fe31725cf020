/** STATE.md and the other kernel documents: show, compare and revert versions, accept pending edits. */

import { z } from 'zod'
import { unifiedDiff } from '../domain/diff.ts'
import { DOCUMENT_NAMES, type Document, type DocumentName } from '../domain/document.ts'
import { TirelessError } from '../domain/error.ts'
import { CLEAN_LABEL, labelWord, lowestLabel, TRUSTS } from '../domain/label.ts'
import type { Documents } from '../ports/documents.ts'
import { auditOwnerAction } from './audit.ts'
import { defineCommand } from './lib/command.ts'

const versionShape = z.object({
  kernel_id: z.string(),
  name: z.string(),
  version: z.number(),
  sha256: z.string(),
  bytes: z.number(),
  author: z.string(),
  reason: z.string(),
  cycle_id: z.string().nullable(),
  ts: z.string(),
})
/** The label of a text. `untrusted`: the text came from outside. `private`: it must not reach third parties. */
const labelFields = { trust: z.enum(TRUSTS), private: z.boolean() }
const documentShape = versionShape.extend({ text: z.string() })

const document = z.enum(DOCUMENT_NAMES).default('STATE.md').describe('which document')
const number = z.coerce.number().int().positive()

async function readLatest(documents: Documents, name: DocumentName): Promise<Document> {
  const found = await documents.read(name)
  if (found) return found
  throw new TirelessError('not_found', {
    what: `${name} does not exist yet`,
    fix: 'start the kernel, which creates it: tireless start',
  })
}

async function readVersion(documents: Documents, name: DocumentName, version: number): Promise<Document> {
  const found = await documents.version(name, version)
  if (found) return found
  throw new TirelessError('not_found', {
    what: 'no such version, or it was deleted',
    where: name,
    got: String(version),
    fix: 'list versions: tireless state log',
  })
}

export const stateShow = defineCommand({
  name: 'state show',
  summary: 'show STATE.md or another document, now or at a version',
  example: 'state show 12',
  runsIn: 'any_process',
  needs: ['documents'],
  positional: ['version'],
  input: z.object({ version: number.optional().describe('version from state log'), document }),
  output: documentShape.extend({
    pending: z.boolean(),
    ...labelFields,
    sections: z
      .array(z.object({ title: z.string().describe('empty: text before the first heading'), ...labelFields }))
      .describe('sections that are untrusted or private'),
  }),
  async run({ documents }, { version, document: name }, tell) {
    const latest = await readLatest(documents, name)
    const shown = version === undefined ? latest : await readVersion(documents, name, version)
    const labelled = await documents.labels(name, shown.text)
    const overall = labelled.map(({ label }) => label).reduce(lowestLabel, CLEAN_LABEL)
    // These are notes, not output, because the output is also used in files and pipes.
    const { author, reason, ts } = shown
    tell({ kind: 'note', text: `Version ${shown.version} by ${author} (${reason}), ${ts}: ${labelWord(overall)}` })
    for (const { title, label } of labelled)
      tell({ kind: 'note', text: `Section ${title || 'before the first heading'}: ${labelWord(label)}` })
    return {
      ...shown,
      pending: (await documents.pending(name)) !== undefined,
      ...overall,
      sections: labelled.map(({ title, label }) => ({ title, ...label })),
    }
  },
})

export const stateLog = defineCommand({
  name: 'state log',
  summary: 'list the versions of a document, newest first: author, reason, time',
  example: 'state log --limit 10',
  runsIn: 'any_process',
  needs: ['documents'],
  input: z.object({ document, limit: z.int().positive().default(50).describe('maximum number of versions') }),
  output: z.object({ items: z.array(versionShape) }),
  run: async ({ documents }, { document: name, limit }) => ({ items: [...(await documents.versions(name, limit))] }),
})

export const stateDiff = defineCommand({
  name: 'state diff',
  summary: 'show the changes of a pending edit, or between two versions',
  example: 'state diff 11 12',
  runsIn: 'any_process',
  needs: ['documents'],
  positional: ['from', 'to'],
  input: z.object({
    from: number.optional().describe('version; default: the previous one'),
    to: number.optional().describe('version; default: the latest'),
    document,
  }),
  output: z.object({ name: z.string(), from: z.string(), to: z.string(), diff: z.string() }),
  async run({ documents }, { from, to, document: name }) {
    const latest = await readLatest(documents, name)
    const pending = from === undefined && to === undefined ? await documents.pending(name) : undefined
    if (pending !== undefined) return diffOf(name, latest, { label: 'the file', text: pending })
    const after = to === undefined ? latest : await readVersion(documents, name, to)
    if (from !== undefined) return diffOf(name, await readVersion(documents, name, from), labelled(after))
    // Intermediate versions may have been deleted, so `version - 1` may not exist.
    const versions = await documents.versions(name, Number.MAX_SAFE_INTEGER)
    const before = versions.find(({ version }) => version < after.version)?.version
    return diffOf(name, before === undefined ? undefined : await readVersion(documents, name, before), labelled(after))
  },
})

interface Labelled {
  readonly label: string
  readonly text: string
}

const labelled = ({ version, text }: Document): Labelled => ({ label: `version ${version}`, text })

function diffOf(name: DocumentName, before: Document | undefined, after: Labelled) {
  const from = before ? labelled(before) : { label: 'nothing', text: '' }
  const side = ({ label, text }: Labelled) => ({ name: `${name} (${label})`, text })
  return { name, from: from.label, to: after.label, diff: unifiedDiff(side(from), side(after)) }
}

export const stateRevert = defineCommand({
  name: 'state revert',
  summary: 'restore an earlier version; without one, discard a pending edit',
  example: 'state revert 11',
  runsIn: 'any_process',
  needs: ['documents'],
  positional: ['version'],
  input: z.object({ version: number.optional().describe('version from state log'), document }),
  output: versionShape,
  async run({ documents }, { version, document: name }) {
    await readLatest(documents, name)
    return documents.revert(name, version)
  },
})

export const stateAccept = defineCommand({
  name: 'state accept',
  summary: 'accept pending edits of document files, and trust sections that agents wrote from outside text',
  example: 'state accept',
  runsIn: 'any_process',
  needs: ['clock', 'documents', 'store'],
  input: z.object({ document: z.enum(DOCUMENT_NAMES).optional().describe('only this one') }),
  output: z.object({
    items: z.array(
      z.object({
        name: z.string(),
        outcome: z.enum(['taken', 'clash', 'trusted']),
        sections: z.array(z.string()).optional(),
      }),
    ),
  }),
  async run(context, { document: only }) {
    const { documents } = context
    const items: { name: string; outcome: 'taken' | 'clash' | 'trusted'; sections?: string[] }[] = []
    for (const name of DOCUMENT_NAMES) {
      if (only !== undefined && only !== name) continue
      const outcome = await documents.accept(name)
      if (outcome !== 'none') items.push({ name, outcome })
      const sections = [...(await documents.trust(name))]
      if (sections.length > 0) items.push({ name, outcome: 'trusted', sections })
    }
    if (items.length > 0) await auditOwnerAction(context, 'state', { items })
    return { items }
  },
  exitCode: ({ items }) => (items.some(({ outcome }) => outcome === 'clash') ? 3 : 0),
})
