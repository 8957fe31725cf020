/** Errors of the server about settings, in the language of the page. Unknown ones keep their words. */

import type { Language } from '../../format.ts'

/** `$1` and so on are what the error names. */
const CHINESE: readonly (readonly [RegExp, string])[] = [
  [/^Connection closed; it exited with code (\d+)$/, '连接已断开：程序以代码 $1 退出'],
  [/^Connection closed; it was killed by (\S+)$/, '连接已断开：程序被 $1 结束'],
  [/^there is no (\S+) on this machine$/, '这台机器上没有 $1'],
  [/^.*the secret is too short: .*$/s, '密钥太短：请检查是否完整。'],
  [/^(.*) is configured already;.*$/s, '$1 已经配置过了；请换一个名字，或先移除它。'],
  [
    /^.*expected a host such as .*$/s,
    '请写主机名，例如 api.example.com、*.example.com 或 127.0.0.1:8080，不带协议和路径。',
  ],
  [/^.*expected hours such as .*$/s, '请写时间段，例如 22:00-07:00。'],
  [/^.*expected an address that begins with http.*$/s, '请写以 http:// 或 https:// 开头的地址。'],
  [/^.*the address is missing;.*$/s, '缺少地址，例如 http://127.0.0.1:8080/v1。'],
  [/^.*expected a name of 1 to .*$/s, '名字要以字母开头，只用字母、数字、- 或 _。'],
  [/^.*expected either a command or an address.*$/s, '请填写命令或地址，二者选一。'],
  [/^.*name the variable that has the token.*$/s, '请填写存放令牌的环境变量名。'],
  [/^.*a backup cannot be inside the home;.*$/s, '备份不能放在主目录里面，请选择主目录之外的新文件夹或空文件夹。'],
  [/^.*the folder is not empty;.*$/s, '这个文件夹不是空的，请选择主目录之外的新文件夹或空文件夹。'],
  [/^.*the folder cannot be created;.*$/s, '无法创建这个文件夹，请换一个位置。'],
  [/^.*the path is relative;.*$/s, '请写完整路径，以 / 开头。'],
  [/^.*expected a number above 0.*$/s, '请写大于 0 的数字；留空表示不设上限。'],
  [/^.*expected a whole number above 0.*$/s, '请写大于 0 的整数；留空表示不设上限。'],
  [/^.*the plugin changed since you reviewed it.*$/s, '插件在你查看之后有改动，请重新查看。'],
  [/^.*no such plugin.*$/s, '没有这个插件。'],
  [/^.*is in use for (.*?); .*$/s, '正在使用：$1。请先为它们选择别的模型。'],
  [/^.*unknown model; got (.*?);.*$/s, '没有这个模型：$1。'],
  [/^.*was not added, because its test failed: (.*?); do this.*$/s, '没有添加，因为测试失败：$1'],
]

const LABELS: readonly (readonly [string, string])[] = [
  ['; got ', '；得到 '],
  ['; expected ', '；应为 '],
  ['; do this: ', '；请这样做：'],
]

export function translateError(message: string, language: Language): string {
  if (language === 'en') return `${message.charAt(0).toUpperCase()}${message.slice(1)}`
  const found = CHINESE.find(([pattern]) => pattern.test(message))
  if (found) return message.replace(found[0], found[1])
  return LABELS.reduce((text, [label, chinese]) => text.replace(label, chinese), message)
}
