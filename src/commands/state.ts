/** STATE.md and the other kernel documents: show, compare and revert versions, accept pending edits. */

import { z } from 'zod'
import { unifiedDiff } from '../domain/diff.ts'
import {
  DOCUMENT_NAMES,
  type Document,
  type DocumentName,
  type DocumentVersion,
  MAX_VERSIONS,
} from '../domain/document.ts'
import { TirelessError } from '../domain/error.ts'
import { CLEAN_LABEL, labelWord, lowestLabel, TRUSTS } from '../domain/label.ts'
import { extractBlock, textOutsideBlock } from '../domain/runtime-block.ts'
import type { Documents } from '../ports/documents.ts'
import { auditOwnerAction } from './audit.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { findWriter, writtenByShape } from './lib/written-by.ts'

export const versionShape = z.object({
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
export const labelFields = { trust: z.enum(TRUSTS), private: z.boolean() }
const documentShape = versionShape.extend({ text: z.string() })

export const documentInput = z.enum(DOCUMENT_NAMES).default('STATE.md').describe('which document')
const number = z.coerce.number().int().positive()

export async function readLatest(documents: Documents, name: DocumentName): Promise<Document> {
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
  needs: ['documents', 'redact', 'store'],
  positional: ['version'],
  input: z.object({ version: number.optional().describe('version from state log'), document: documentInput }),
  output: documentShape.extend({
    own_text: z.string().describe('the text without the part that the system writes'),
    runtime: z.string().nullable().describe('the part that the system writes'),
    written_by: writtenByShape,
    pending: z.boolean(),
    ...labelFields,
    sections: z
      .array(z.object({ title: z.string().describe('empty: text before the first heading'), ...labelFields }))
      .describe('sections that are untrusted or private'),
  }),
  async run(context, { version, document: name }, tell) {
    const { documents } = context
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
      own_text: ownText(name, shown.text),
      runtime: name === 'STATE.md' ? extractBlock(shown.text).block : null,
      written_by: await writerOf(context, shown),
      pending: (await documents.pending(name)) !== undefined,
      ...overall,
      sections: labelled.map(({ title, label }) => ({ title, ...label })),
    }
  },
})

/** The reason of an agent's edit names its call: session, turn and number. */
const EDIT_CALL = /^edit_state (.+)\.(\d+)\.\d+$/

function writerOf(context: Needs<'store' | 'redact'>, { reason }: Document) {
  const [, session_id, turn] = EDIT_CALL.exec(reason) ?? []
  return session_id === undefined ? null : findWriter(context, { session_id, turn: Number(turn) })
}

export const stateLog = defineCommand({
  name: 'state log',
  summary: 'list the versions of a document, newest first: author, reason, time',
  example: 'state log --limit 10',
  runsIn: 'any_process',
  needs: ['documents'],
  input: z.object({
    document: documentInput,
    limit: z.int().positive().default(50).describe('maximum number of versions'),
    offset: z.int().nonnegative().default(0).describe('number of newer versions to leave out'),
    own: z.boolean().default(false).describe('leave out versions that the system wrote'),
  }),
  output: z.object({
    items: z.array(versionShape),
    total: z.number(),
    yours_from: z.number().nullable().describe('the oldest version of yours that is kept'),
    all_from: z.number().nullable().describe('from this version on, all are kept; of the earlier ones only some'),
  }),
  async run({ documents }, { document: name, limit, offset, own }, tell) {
    const all = await documents.versions(name, Number.MAX_SAFE_INTEGER)
    const kept = describeKept(all)
    if (kept.all_from !== null && kept.all_from > 1) tell({ kind: 'note', text: sayKept(name, kept) })
    const found = own ? all.filter(({ author, version }) => author !== 'system' || version === 1) : all
    return { items: found.slice(offset, offset + limit), total: found.length, ...kept }
  },
})

/** `versions`: newest first. */
function describeKept(versions: readonly DocumentVersion[]) {
  const yours = versions.findLast(({ author }) => author === 'owner')
  const gap = versions.findIndex(({ version }, i) => version !== (versions[0]?.version ?? 0) - i)
  const all = gap < 0 ? versions.at(-1) : versions[gap - 1]
  return { yours_from: yours?.version ?? null, all_from: all?.version ?? null }
}

const sayKept = (name: DocumentName, { yours_from, all_from }: ReturnType<typeof describeKept>): string =>
  [
    `Every version of ${name} from ${all_from} on is kept; of the earlier ones, the newest ${MAX_VERSIONS} of yours,`,
    `of the agents' and of the system's.`,
    ...(yours_from === null ? [] : [`Your oldest one is ${yours_from}.`]),
  ].join(' ')

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
    document: documentInput,
    own: z.boolean().default(false).describe('leave out the part that the system writes'),
    copy: z.string().optional().describe('compare the latest version with this saved copy, from documents list'),
  }),
  output: z.object({
    name: z.string(),
    from: z.string(),
    to: z.string(),
    diff: z.string(),
    text: z.string().describe('the text after the changes'),
  }),
  async run({ documents }, { from, to, document: name, own, copy }) {
    const diff = (before: Document | undefined, after: Labelled) => diffOf(name, before, after, own)
    const isPending = from === undefined && to === undefined && copy === undefined
    const pending = isPending ? await documents.pending(name) : undefined
    if (pending !== undefined) return diff(await documents.read(name), { label: 'the file', text: pending })
    const latest = await readLatest(documents, name)
    if (copy !== undefined) return diff(latest, { label: copy, text: await readCopy(documents, name, copy) })
    const after = to === undefined ? latest : await readVersion(documents, name, to)
    if (from !== undefined) return diff(await readVersion(documents, name, from), labelled(after))
    // Intermediate versions may have been deleted, so `version - 1` may not exist.
    const versions = await documents.versions(name, Number.MAX_SAFE_INTEGER)
    const before = versions.find(({ version }) => version < after.version)?.version
    return diff(before === undefined ? undefined : await readVersion(documents, name, before), labelled(after))
  },
})

/** Contract: the text without the part that the system writes; only STATE.md has one. */
export const ownText = (name: DocumentName, text: string): string =>
  name === 'STATE.md' ? textOutsideBlock(text) : text

export async function readCopy(documents: Documents, name: DocumentName, file: string): Promise<string> {
  const text = await documents.copy(name, file)
  if (text !== undefined) return text
  throw new TirelessError('not_found', {
    what: 'there is no such copy, or it is not text',
    where: name,
    got: file,
    fix: 'list the copies: tireless documents list',
  })
}

interface Labelled {
  readonly label: string
  readonly text: string
}

const labelled = ({ version, text }: Document): Labelled => ({ label: `version ${version}`, text })

function diffOf(name: DocumentName, before: Document | undefined, after: Labelled, isOwn: boolean) {
  const from = before ? labelled(before) : { label: 'nothing', text: '' }
  const textOf = ({ text }: Labelled): string => (isOwn ? ownText(name, text) : text)
  const side = (of: Labelled) => ({ name: `${name} (${of.label})`, text: textOf(of) })
  const diff = unifiedDiff(side(from), side(after))
  return { name, from: from.label, to: after.label, diff, text: textOf(after) }
}

export const stateRevert = defineCommand({
  name: 'state revert',
  summary: 'restore an earlier version; without one, discard a pending edit',
  example: 'state revert 11',
  runsIn: 'any_process',
  needs: ['documents'],
  positional: ['version'],
  input: z.object({ version: number.optional().describe('version from state log'), document: documentInput }),
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
