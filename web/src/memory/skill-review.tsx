/** One skill as its owner reviews it: changes since the approval, suspicious lines, all files; approve or withdraw. */

import { useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { readCommand } from '../api.ts'
import { Button, Card, Chevron, Empty, Section } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { DiffStat, DiffView } from '../diff-view.tsx'
import { byteSize, relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { NotFetched } from '../tabbed-place.tsx'
import type { SkillsTexts } from '../texts/skills.ts'
import { useFetched } from '../use-fetched.ts'
import type { ViewContext } from '../view-context.ts'
import { SkillStatus, sayOwner } from './skill-words.tsx'

type Review = CommandOutput<'skills show'>

interface Wanted {
  readonly name: string
  readonly agent: string | undefined
  readonly workspace: string | undefined
}

interface ReviewProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly own: SkillsTexts
  readonly wanted: Wanted
}

export function SkillReview(props: ReviewProps) {
  const { context, page, own, wanted } = props
  const state = useFetched(page, JSON.stringify(wanted), () => readCommand('skills show', wanted))
  return (
    <>
      <a class="label w-fit text-link underline underline-offset-2" href="/memory/skills">
        {own.back}
      </a>
      {state.kind === 'failed' && state.code === 'not_found' && (
        <Card>
          <Empty>{own.gone}</Empty>
        </Card>
      )}
      {state.kind === 'failed' && state.code !== 'not_found' && (
        <NotFetched language={context.language} state={state} />
      )}
      {state.kind === 'ready' && <Reviewed {...props} review={state.data} />}
    </>
  )
}

interface ReviewedProps extends ReviewProps {
  readonly review: Review
}

function Reviewed(props: ReviewedProps) {
  const { context, own, review } = props
  const { skill, findings } = review
  return (
    <>
      <SkillHeader {...props} />
      {skill.status === 'changed' && <Changes own={own} context={context} review={review} />}
      <Section title={findings.length === 0 ? own.noFindings : own.findings}>
        {findings.length > 0 && (
          <Card>
            <Findings own={own} findings={findings} />
          </Card>
        )}
      </Section>
      <Section title={own.files}>
        <div class="flex flex-col gap-2">
          {review.files.map((file) => (
            <SkillFile key={file.path} own={own} context={context} file={file} isOpen={review.files.length === 1} />
          ))}
        </div>
      </Section>
    </>
  )
}

function SkillHeader(props: ReviewedProps) {
  const { own, review } = props
  const { language, now } = props.context
  const { name, status, description, problem, path, approved_at } = review.skill
  return (
    <Card class="px-4 py-4 sm:px-5">
      <div class="flex flex-wrap items-start justify-between gap-3">
        <div class="min-w-0">
          <h2 class="text-lg font-semibold wrap-anywhere">{visibleText(name)}</h2>
          <p class="flex flex-wrap items-center gap-x-3">
            <SkillStatus own={own} status={status} />
            <span class="label">
              {approved_at === null
                ? own.neverApproved
                : own.approvedAt(relativeTime(Date.parse(approved_at), now, language))}
            </span>
            <span class="label min-w-0 wrap-anywhere">{sayOwner(own, review.skill)}</span>
          </p>
        </div>
        <div class="flex flex-wrap gap-2">
          {(status === 'unapproved' || status === 'changed') && <ApproveButton {...props} />}
          {approved_at !== null && <RevokeButton {...props} />}
        </div>
      </div>
      <p class={`mt-2 wrap-anywhere ${problem === null ? '' : 'text-fault'}`}>{visibleText(problem ?? description)}</p>
      <p class="mt-1 font-mono text-[12px] text-muted wrap-anywhere">{visibleText(path)}</p>
    </Card>
  )
}

type ChangesProps = Pick<ReviewedProps, 'own' | 'context' | 'review'>

function Changes({ own, context: { language }, review: { changes } }: ChangesProps) {
  return (
    <Section title={own.changes}>
      <div class="flex flex-col gap-2">
        {changes === null && <p class="px-1 text-muted">{own.changesUnknown}</p>}
        {changes?.length === 0 && <p class="px-1 text-muted">{own.noChanges}</p>}
        {changes?.map(({ path, diff }) => (
          <div key={path} class="overflow-hidden rounded-lg border border-line bg-surface" data-change={path}>
            <p class="flex items-center justify-between gap-3 border-b border-line px-3 py-1.5">
              <span class="min-w-0 font-mono text-[13px] wrap-anywhere">{visibleText(path)}</span>
              <DiffStat diff={diff} language={language} />
            </p>
            <DiffView diff={diff} language={language} />
          </div>
        ))}
      </div>
    </Section>
  )
}

function Findings({ own, findings }: { readonly own: SkillsTexts; readonly findings: Review['findings'] }) {
  return (
    <ul class="divide-y divide-line">
      {findings.map(({ file, line, kind, text }) => (
        <li key={`${file} ${line} ${kind}`} class="px-4 py-2.5 sm:px-5" data-finding={kind}>
          <p class="flex flex-wrap items-baseline gap-x-3">
            <span class="font-medium">{own.kinds[kind] ?? kind}</span>
            <span class="label font-mono wrap-anywhere">
              {visibleText(file)}, {own.line(line)}
            </span>
          </p>
          <p class="font-mono text-[12.5px] text-muted wrap-anywhere">{visibleText(text)}</p>
        </li>
      ))}
    </ul>
  )
}

interface SkillFileProps extends Pick<ReviewedProps, 'own' | 'context'> {
  readonly file: Review['files'][number]
  readonly isOpen: boolean
}

const TEXT_CLASSES = [
  'max-h-[60dvh] overflow-auto border-t border-line px-3 py-2 font-mono text-[12.5px] whitespace-pre-wrap',
  'wrap-anywhere',
].join(' ')

function SkillFile({ own, context: { language }, file: { path, bytes, executable, text }, isOpen }: SkillFileProps) {
  return (
    <details class="group rounded-lg border border-line bg-surface" open={isOpen} data-skill-file={path}>
      <summary class="flex cursor-pointer list-none flex-wrap items-center gap-2 px-3 py-2">
        <Chevron />
        <span class="min-w-0 font-mono text-[13px] wrap-anywhere">{visibleText(path)}</span>
        <span class="label ml-auto">
          {executable && `${own.executable} · `}
          {byteSize(bytes, language)}
        </span>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text is scrolled with the keyboard, too. */}
      <pre class={TEXT_CLASSES} tabIndex={0}>
        {text === null ? own.notText : visibleText(text)}
      </pre>
    </details>
  )
}

/** Only what is on the screen is approved: the digest of the shown files goes with it. */
function ApproveButton({ context: { texts }, page, own, wanted, review }: ReviewedProps) {
  const [isAsking, setAsking] = useState(false)
  const { findings, skill } = review
  const busy = page.view.busy.has('skills approve')
  const approve = async (yes: boolean): Promise<void> => {
    const digest = skill.digest === null ? {} : { digest: skill.digest }
    await page.run('skills approve', { ...wanted, ...digest, yes }, { done: own.approved(visibleText(skill.name)) })
    setAsking(false)
  }
  return (
    <>
      <Button look="main" busy={busy} onClick={() => (findings.length > 0 ? setAsking(true) : void approve(false))}>
        {own.approve}
      </Button>
      {isAsking && (
        <Dialog title={own.approveTitle} isWide onClose={() => setAsking(false)}>
          <p class="mt-2 text-muted">{own.approveHelp}</p>
          <div class="mt-3 max-h-[45dvh] overflow-y-auto rounded-lg border border-line">
            <Findings own={own} findings={findings} />
          </div>
          <DialogButtons>
            <Button onClick={() => setAsking(false)}>{texts.cancel}</Button>
            <Button look="danger" busy={busy} onClick={() => void approve(true)}>
              {own.approveYes}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </>
  )
}

function RevokeButton({ context: { texts }, page, own, wanted, review }: ReviewedProps) {
  const [isAsking, setAsking] = useState(false)
  const name = visibleText(review.skill.name)
  const revoke = async (): Promise<void> => {
    await page.run('skills revoke', { ...wanted }, { done: own.revoked(name) })
    setAsking(false)
  }
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        {own.revoke}
      </Button>
      {isAsking && (
        <Dialog title={own.revokeTitle(name)} onClose={() => setAsking(false)}>
          <p class="mt-2 text-muted">{own.revokeHelp}</p>
          <DialogButtons>
            <Button onClick={() => setAsking(false)}>{texts.cancel}</Button>
            <Button look="danger" busy={page.view.busy.has('skills revoke')} onClick={() => void revoke()}>
              {own.revoke}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </>
  )
}
