/** Shows one step of a run in full, and what was sent to the model. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { style } from '../terminal.ts'

type Step = NonNullable<CommandOutput<'trace show'>['step']>
type Request = NonNullable<Step['request']>

export function renderStep(step: Step): readonly string[] {
  const { step_id, input, feedback, answer, failures, rulings, approvals, request } = step
  return [
    style('bold', `step ${step_id}`),
    ...input.flatMap((observed) => [
      style('dim', `${observed.type}:`),
      observed.type === 'user_message' ? observed.text : JSON.stringify(observed.payload ?? observed.name),
    ]),
    ...(feedback === null ? [] : [style('dim', 'feedback:'), feedback]),
    ...(request === null ? [] : requestLines(request)),
    ...(answer === null ? [] : [style('dim', 'answer:'), answer.text, ...answer.calls.map(callLine)]),
    ...failures.map(({ phase, code, message }) => style('red', `${phase} ${code}: ${message}`)),
    ...rulings.map(({ index, ruling, reason }) => `call ${index + 1}: ${ruling}${reason === '' ? '' : `, ${reason}`}`),
    ...approvals.map(({ id, status, tool }) => `approval ${id}: ${tool}, ${status}`),
    ...step.calls.flatMap(({ index, result }) =>
      result === null ? [] : [`${style('dim', `result ${index + 1}:`)} ${result.status}`, result.content],
    ),
  ]
}

const callLine = ({ tool, args }: { readonly tool: string; readonly args: string }): string =>
  `${style('cyan', tool)} ${args}`

function requestLines({ model, is_exact, sections, messages, tools }: Request): readonly string[] {
  return [
    style('dim', `sent to ${model}:`),
    ...(is_exact ? [] : [style('yellow', 'Made by another version of the program; what was sent may have differed.')]),
    ...sections.flatMap(({ name, text, tokens }) => [style('dim', `${name}, about ${tokens} tokens:`), text]),
    style('dim', `tools: ${tools.map(({ name }) => name).join(', ')}`),
    ...messages.flatMap((message) => [
      style('dim', `${message.role}:`),
      message.text,
      ...(message.role === 'assistant' ? message.calls.map(({ tool, args }) => `${tool} ${JSON.stringify(args)}`) : []),
    ]),
  ]
}
