/** What the terminal chat says itself, in English and Chinese. */

import type { Language } from '../../domain/language.ts'
import { terminalLanguage } from '../views/language.ts'

const TEXTS = {
  en: {
    greeting: 'Write to your agent; a \\ at the end continues the line. /help shows the commands, /quit leaves.',
    stopped: 'Stopped this step; the work is kept. Go on: /continue · give it up: /cancel · leave: Ctrl-C again',
    missed: 'Since the chat was last open:',
    nothingStopped: 'Nothing is stopped.',
    left: 'The work that is not finished is kept. Go on: tireless start, or tireless chat and /continue',
    noAnswer: 'No answer yet. Ask again later, or look: /status',
    commands: 'Commands (without / it is a message to your agent):',
    own: [
      ['/continue', 'go on with what Ctrl-C stopped'],
      ['/cancel', 'give up what Ctrl-C stopped'],
      ['/allow ID, /deny ID', 'answer an approval'],
      ['/quit', 'leave; work goes on'],
    ],
    unknown: (typed: string, near: string) => `There is no command /${typed}. Did you mean /${near}? /help lists all.`,
    notHere: (name: string) => `${name} cannot be used inside the chat; run: tireless ${name}`,
  },
  zh: {
    greeting: '直接写给你的智能体。行尾加 \\ 可换行继续。/help 查看命令，/quit 离开。',
    stopped: '已停止这一步；任务保留着。继续：/continue · 放弃：/cancel · 离开：再按 Ctrl-C',
    missed: '上次离开对话之后的回答：',
    nothingStopped: '没有被停止的任务。',
    left: '没有完成的任务都保留着。继续：tireless start，或 tireless chat 后输入 /continue',
    noAnswer: '还没有回答。稍后再问，或查看：/status',
    commands: '命令（不带 / 的是写给智能体的消息）：',
    own: [
      ['/continue', '继续被 Ctrl-C 停止的任务'],
      ['/cancel', '放弃被 Ctrl-C 停止的任务'],
      ['/allow ID, /deny ID', '答复审批'],
      ['/quit', '离开；任务继续'],
    ],
    unknown: (typed: string, near: string) => `没有命令 /${typed}。是不是 /${near}？/help 列出全部命令。`,
    notHere: (name: string) => `${name} 不能在对话中使用；请运行：tireless ${name}`,
  },
} as const satisfies Record<Language, object>

export const chatTexts = () => TEXTS[terminalLanguage()]
