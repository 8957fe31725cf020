/** Texts of the shell: navigation, connection, login, feedback of buttons. */

import { explainError } from './errors.ts'

const en = {
  language: '中文',
  switchLanguage: '切换到中文',
  themes: { auto: 'Colours: as the system', light: 'Colours: light', dark: 'Colours: dark' },
  navigation: 'Places',
  places: {
    ...{ talk: 'Talk', needs: 'Needs you', now: 'Now', work: 'Work', runs: 'Runs', agents: 'Agents' },
    ...{ memory: 'Memory', costs: 'Costs', reports: 'Reports', settings: 'Settings' },
  },
  morePlaces: 'More',
  needCount: (count: number) => (count === 1 ? '1 thing needs you' : `${count} things need you`),
  live: 'live',
  connecting: 'connecting',
  lost: 'connection lost, reconnecting',
  incomplete: 'not everything could be read, trying again',
  notRead: 'The server did not answer this. The page tries again by itself.',
  states: { running: 'running', stopped: 'stopped', paused: 'paused', idle: 'idle' } as Record<string, string>,
  ownHome: (process: string) =>
    `Several processes share one store. Settings and agents are files of the home of this one (${process}); ` +
    'the others have their own.',
  dismiss: 'Dismiss',
  cancel: 'Cancel',
  failed: (reason: string) => `That did not work: ${explainError(reason, 'en')}`,
  noAnswerFromServer: 'The server does not answer. Is Tireless running?',
  notFoundTitle: 'There is nothing at this address',
  notFoundHelp: 'Check the address, or go to one of these places:',
  loadFailed: 'This part of the page could not be loaded. It may have been updated.',
  reload: 'Reload the page',
  placeFailedTitle: 'This place cannot be shown',
  placeFailedHelp:
    'The page could not draw what the server answered. Nothing is lost, and the other places work. ' +
    'If trying again does not help, report these words:',
  tryAgain: 'Try again',
  showMoreText: (rest: string) => `Show more (${rest} characters left)`,
  loginTitle: 'Log in',
  loginHelp: 'Run this command to get a login link. It opens this page, logged in:',
  loginOr: 'Or enter the token from the file “token” in the home folder.',
  linkSpentTitle: 'This login link no longer works',
  linkSpentHelp: 'A link works once, and for ten minutes. Run this command to get a new one:',
  token: 'Token',
  login: 'Log in',
  loginWrong: 'Wrong token.',
  loginTooMany: 'Too many wrong tokens. Wait a minute, then enter the right one.',
  loginFailed: 'The server does not respond.',
}

const zh: typeof en = {
  language: 'English',
  switchLanguage: 'Switch to English',
  themes: { auto: '颜色：跟随系统', light: '颜色：浅色', dark: '颜色：深色' },
  navigation: '页面',
  places: {
    ...{ talk: '对话', needs: '等你处理', now: '此刻', work: '工作', runs: '运行记录', agents: '智能体' },
    ...{ memory: '记忆', costs: '花费', reports: '日报', settings: '设置' },
  },
  morePlaces: '更多',
  needCount: (count) => `有 ${count} 件事等你处理`,
  live: '实时',
  connecting: '连接中',
  lost: '连接中断，正在重试',
  incomplete: '有些内容没有读到，正在重试',
  notRead: '服务器没有回答。页面会自动重试。',
  states: { running: '运行中', stopped: '已停止', paused: '已暂停', idle: '空闲' },
  ownHome: (process) =>
    `多个进程共用一个存储。设置和智能体是本进程（${process}）主目录里的文件；其他进程的请在各自那里修改。`,
  dismiss: '关闭',
  cancel: '取消',
  failed: (reason) => `没有成功：${explainError(reason, 'zh')}`,
  noAnswerFromServer: '服务器没有响应。Tireless 在运行吗？',
  notFoundTitle: '这个地址没有内容',
  notFoundHelp: '请检查地址，或前往：',
  loadFailed: '页面的这一部分无法加载，可能已经更新。',
  reload: '重新加载页面',
  placeFailedTitle: '无法显示这一页',
  placeFailedHelp: '页面无法显示服务器返回的内容。数据没有丢失，其他页面照常可用。如果重试无效，请反馈下面的文字：',
  tryAgain: '重试',
  showMoreText: (rest) => `继续显示（还有 ${rest} 个字符）`,
  loginTitle: '登录',
  loginHelp: '运行下面的命令得到登录链接，它会打开已登录的页面：',
  loginOr: '或者输入主目录下 token 文件中的令牌。',
  linkSpentTitle: '这个登录链接已失效',
  linkSpentHelp: '链接只能用一次，十分钟内有效。运行下面的命令得到新的链接：',
  token: '令牌',
  login: '登录',
  loginWrong: '令牌不正确。',
  loginTooMany: '错误的令牌太多。请等一分钟，再输入正确的令牌。',
  loginFailed: '服务器没有响应。',
}

export const SHELL_TEXTS = { en, zh }
