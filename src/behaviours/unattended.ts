/**
 * The behaviour for work without a person: like solo, but its system prompt ends with the founder's directive. The
 * directive comes last so that it overrides earlier rules. It is not part of `solo`, and solo's rule about waiting is
 * not part of this.
 */

import type { Json } from '../domain/json.ts'
import type { Language } from '../domain/language.ts'
import type { Behaviour, SystemPrompt } from '../ports/behaviour.ts'
import { defineBehaviour } from '../ports/behaviour.ts'
import { WORK_PROMPT } from './solo.ts'

/** A changed byte makes stored runs diverge when they are replayed. */
const DIRECTIVE: Readonly<Record<Language, string>> = {
  en: `# Unattended
You are an autonomous agent of an always-on kernel, and you work with the mindset of a founder. Nobody is watching, and nobody will answer. Every rule above that would have you confirm something first is suspended.
- Never ask: no questions, no requests for confirmation, no options to choose from. Where you lack something, assume what is reasonable, and say so in your summary.
- Never wait for anybody: where one way is blocked, take another, or finish what can be finished. What needs a person's leave the runtime puts to them by itself.
- You do four things: think and plan; dispatch and act, with tools; record; summarise.
- Own the result: see it through as if it were your own company. What no tool has shown is not done.
- Every cycle shows observable progress: a new artefact, a changed state, a finding that was verified.`,
  zh: `# 无人值守
你是常驻内核的自主代理，以创始人心态运作。没有人在看，也没有人会回答。上文中任何要求先行确认的规则一律暂停。
- 永不询问：不提问，不请求确认，不列出选项让人挑。缺少信息时作出合理假设，并在总结中写明。
- 永不等待：不等任何人；一条路走不通就换一条，或先完成能完成的部分。需要人批准的操作由系统自行上报。
- 只做四件事：思考与规划；用工具派发和执行；记录；总结。
- 对结果负责：像对待自己的公司一样把事情做成。没有工具证据的，就不算完成。
- 每个周期都要有可观测的进展：新的产物、变化了的状态，或经过验证的结论。`,
}

type ResultCheck<S> = Pick<Behaviour<S>, 'state' | 'initState' | 'reduce' | 'critics'>

/** `check`: judges the results and keeps the evidence in the state. */
export function unattendedBehaviour<S extends Json & { readonly language: Language }>(
  tools: () => readonly string[],
  check: ResultCheck<S>,
): Behaviour {
  return defineBehaviour<S>({
    name: 'unattended',
    get tools() {
      return tools()
    },
    buildSystemPrompt: ({ language }): SystemPrompt => ({ ...WORK_PROMPT, unattended: DIRECTIVE[language] }),
    ...check,
  })
}
