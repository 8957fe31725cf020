/** Approvals, unknown outcomes, questions and failures as needs. Their rows are elsewhere; nothing is stored twice. */

import type { Approval } from '../domain/approval.ts'
import type { Dispatch } from '../domain/dispatch.ts'
import { alwaysNeedsApproval } from '../domain/effect.ts'
import { describeLoss, LOSS_REMEDY, type LostCommits } from '../domain/lost-commits.ts'
import { EMPTY_NEED, type Need, type NeedChoice } from '../domain/need.ts'
import { outcomeOf } from '../domain/outcome.ts'
import { titleOfRun } from '../domain/title.ts'
import type { UnknownOutcome } from '../domain/unknown-outcome.ts'
import { iso } from '../ports/clock.ts'

const OPEN = { ...EMPTY_NEED, status: 'open', answer: null, ended_at: null } as const

const argumentsText = (tool: string, args: unknown): string => `${tool} ${JSON.stringify(args, null, 2)}`

export function needOfApproval(approval: Approval, agent_id: string | null): Need {
  const { id, tool, args, reason, session_id, origin, asked_at, expires_at, status, answered_at } = approval
  const isOpen = status === 'open'
  const who = agent_id === null ? { text: 'Your agent', zh: '你的智能体' } : { text: agent_id, zh: agent_id }
  const call = argumentsText(tool, args)
  return {
    ...OPEN,
    id,
    kind: 'approval',
    agent_id,
    session_id,
    run_id: origin.run_id,
    expires_at,
    after_expiry: { text: 'The call is denied.', zh: '这个调用会被拒绝。' },
    same_as: `approval ${id}`,
    title: { text: `${who.text} asks for your approval: ${tool}`, zh: `${who.zh} 请你批准：${tool}` },
    body: { text: `${call}\n\nWhy you are asked: ${reason}`, zh: `${call}\n\n为什么问你：${reason}` },
    choices: approvalChoices(approval),
    asked_at,
    status: isOpen ? 'open' : status === 'expired' ? 'withdrawn' : 'answered',
    answer: isOpen || status === 'expired' ? null : { choice: status === 'allowed' ? 'allow' : 'deny', words: null },
    ended_at: isOpen ? null : (answered_at ?? expires_at),
  }
}

function approvalChoices({ id, effect }: Approval): readonly NeedChoice[] {
  const allow = (grant: string) => ({ name: 'approvals allow', input: { id, grant } })
  const once: NeedChoice = {
    id: 'allow',
    text: { text: 'Allow once', zh: '允许一次' },
    does: { text: 'This call runs, exactly as it is shown.', zh: '这个调用会照原样执行。' },
    command: allow('once'),
  }
  const session: NeedChoice = {
    id: 'session',
    text: { text: 'Allow in this session', zh: '本会话内允许' },
    does: {
      text: 'This call runs, and others to the same destination in this session without asking.',
      zh: '这个调用会执行；本会话内发往同一目的地的其他调用不再问你。',
    },
    command: allow('session'),
  }
  const days: NeedChoice = {
    id: '7d',
    text: { text: 'Allow for 7 days', zh: '允许 7 天' },
    does: {
      text: 'This call runs, and others of this agent to the same destination for 7 days without asking.',
      zh: '这个调用会执行；7 天内这个智能体发往同一目的地的其他调用不再问你。',
    },
    command: allow('7d'),
  }
  const deny: NeedChoice = {
    id: 'deny',
    text: { text: 'Deny', zh: '拒绝' },
    does: {
      text: 'The call does not run; the agent is told, with your words if you add some.',
      zh: '这个调用不会执行；智能体会知道，你附上的话它也会读到。',
    },
    command: { name: 'approvals deny', input: { id }, words: { key: 'reason', required: false } },
  }
  return alwaysNeedsApproval(effect) ? [once, deny] : [once, session, days, deny]
}

const INTERRUPTED = {
  text: 'The program was interrupted during this call. Look whether it happened; the run waits for you.',
  zh: '程序在这次调用中被中断。请查看它是否已经发生；运行在等你。',
}

export function needOfUnknown(unknown: UnknownOutcome, agent_id: string | null): Need {
  const { id, tool, args, session_id, dispatch_id, started_at, output_so_far, status, resolution } = unknown
  const call = argumentsText(tool, args)
  const output = output_so_far === '' ? '' : `\n\n${output_so_far}`
  return {
    ...OPEN,
    id,
    kind: 'unknown',
    agent_id,
    session_id,
    run_id: dispatch_id,
    same_as: `unknown ${id}`,
    title: { text: `Did this take effect: ${tool}?`, zh: `${tool} 生效了吗？` },
    body: {
      text: `${INTERRUPTED.text}\n\n${call}${output}`,
      zh: `${INTERRUPTED.zh}\n\n${call}${output}`,
    },
    choices: unknownChoices(id),
    asked_at: started_at,
    status: status === 'open' ? 'open' : status === 'resolved' ? 'answered' : 'withdrawn',
    answer: status === 'resolved' && resolution !== null ? { choice: resolution, words: null } : null,
    ended_at: status === 'open' ? null : started_at,
  }
}

const unknownChoices = (id: string): readonly NeedChoice[] => [
  {
    id: 'happened',
    text: { text: 'It happened', zh: '已经发生' },
    does: { text: 'The run goes on without this call.', zh: '运行继续，不再执行这个调用。' },
    command: { name: 'unknowns resolve', input: { id, as: 'happened' } },
  },
  {
    id: 'not',
    text: { text: 'It did not: do it again', zh: '没有发生，再做一次' },
    does: {
      text: 'The call runs again. If it did happen, it happens twice.',
      zh: '这个调用会再次执行。如果它其实已经发生，就会发生两次。',
    },
    command: { name: 'unknowns resolve', input: { id, as: 'not' } },
  },
  {
    id: 'recheck',
    text: { text: 'Check again', zh: '再检查一次' },
    does: {
      text: 'The tool looks again. If it stays unclear, you are asked again.',
      zh: '工具会再次查看。如果仍不明，会再问你。',
    },
    command: { name: 'unknowns resolve', input: { id, as: 'recheck' } },
  },
]

export function needOfQuestion(run: Dispatch): Need {
  const { dispatch_id, session_id, agent_id, wait, updated_at, prompt, metadata } = run
  const until = wait?.until ?? null
  const question = wait?.reason || titleOfRun(prompt, metadata.behaviour)
  const input = { session: session_id, answers: dispatch_id, ...(until === null ? {} : { asked_until: until }) }
  return {
    ...OPEN,
    id: `question-${dispatch_id}`,
    kind: 'question',
    agent_id,
    session_id,
    run_id: dispatch_id,
    expires_at: until === null ? null : iso(until),
    after_expiry: until === null ? null : { text: 'The run stops waiting for it.', zh: '运行不再等你回答。' },
    same_as: `question ${dispatch_id} ${until}`,
    title: { text: `${agent_id} asks you`, zh: `${agent_id} 问你` },
    body: { text: question, zh: question },
    choices: [
      {
        id: 'answer',
        text: { text: 'Answer', zh: '回答' },
        does: { text: 'Sends your words to the run, which goes on.', zh: '把你的话发给这次运行，它会继续。' },
        command: { name: 'send', input, words: { key: 'text', required: true } },
      },
    ],
    asked_at: updated_at,
  }
}

/** `count`: how often this agent failed at this task lately. */
export function needOfFailure(run: Dispatch, count: number): Need {
  const { dispatch_id: id, session_id, agent_id, updated_at, prompt, metadata } = run
  const about = `${titleOfRun(prompt, metadata.behaviour)}\n${outcomeOf(run) ?? ''}`.trim()
  return {
    ...OPEN,
    id: `failure-${id}`,
    kind: 'failure',
    agent_id,
    session_id,
    run_id: id,
    same_as: `failure ${id}`,
    title: {
      text: count > 1 ? `${agent_id} failed ${count} times` : `${agent_id} failed`,
      zh: count > 1 ? `${agent_id} 失败了 ${count} 次` : `${agent_id} 失败了`,
    },
    body: { text: about, zh: about },
    choices: [
      {
        id: 'retry',
        text: { text: 'Try again', zh: '再试一次' },
        does: { text: 'The task runs again.', zh: '任务会再运行一次。' },
        command: { name: 'queue retry', input: { id } },
      },
      {
        id: 'dismiss',
        text: { text: 'Put aside', zh: '先放一边' },
        does: {
          text: 'It no longer needs you; the run stays in the list of runs. A new failure does need you.',
          zh: '不再需要你处理；这次运行留在运行列表里。再次失败时会重新出现。',
        },
        command: { name: 'queue dismiss', input: { id, same: true } },
      },
    ],
    asked_at: updated_at,
  }
}

export function needOfLostCommits(lost: LostCommits, now: number): Need {
  const what = `${describeLoss(lost)}. Do this: ${LOSS_REMEDY}`
  return {
    ...OPEN,
    id: 'lost-commits',
    kind: 'failure',
    same_as: 'lost commits',
    title: { text: 'Acknowledged work is missing from the database', zh: '数据库里缺少已确认的工作' },
    body: {
      text: what,
      zh: `数据库里缺少 ${lost.commits} 次已确认的提交。可以恢复备份，或者接受这个损失。\n\n${what}`,
    },
    choices: [
      {
        id: 'accept',
        text: { text: 'Accept the loss', zh: '接受这个损失' },
        does: {
          text: 'Notes that you know of it. What is missing stays missing; a backup can still be restored.',
          zh: '记下你已知道。缺少的不会回来；仍然可以恢复备份。',
        },
        command: { name: 'doctor', input: { fix: true, only: 'acknowledged work' } },
      },
    ],
    asked_at: iso(now),
  }
}
