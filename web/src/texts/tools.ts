/** Tools of the program in words, where the owner decides about their calls. */

import { type Language, visibleText } from '../format.ts'

const TOOLS: Readonly<Record<string, Readonly<Record<Language, string>>>> = {
  bash: { en: 'command', zh: '命令' },
  browser: { en: 'action in a browser', zh: '浏览器操作' },
  coding_agent: { en: 'task for a coding agent', zh: '交给编程智能体的任务' },
  create_file: { en: 'new file', zh: '新建文件' },
  edit_file: { en: 'change of a file', zh: '修改文件' },
  edit_state: { en: 'change of its notes', zh: '修改它的笔记' },
  fetch: { en: 'web page', zh: '网页' },
  git: { en: 'git command', zh: 'git 命令' },
  learn: { en: 'new skill', zh: '新技能' },
  remember: { en: 'new fact to remember', zh: '要记住的事实' },
  send_message: { en: 'message', zh: '消息' },
  spawn_agent: { en: 'task for a sub-agent', zh: '交给子智能体的任务' },
  web_search: { en: 'web search', zh: '网络搜索' },
}

/** Contract: `command (bash)`; the name alone for other tools. */
export function sayTool(tool: string, language: Language): string {
  const words = Object.hasOwn(TOOLS, tool) ? TOOLS[tool]?.[language] : undefined
  if (words === undefined) return visibleText(tool)
  return language === 'zh' ? `${words}（${tool}）` : `${words} (${tool})`
}
