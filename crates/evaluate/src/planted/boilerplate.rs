//! Boilerplate: the text around the content of a page, the same on every page of a site.

/// In English, from the top of a page.
pub(super) const ENGLISH: &str = "Home News Sport Business Opinion Culture Weather Travel Video. \
Sign in or create an account to read on. Subscribe to our newsletter and never miss a story. \
Share this page by mail, print it, or save it for later. Follow us. Most read today. \
We use cookies to improve your experience on this site. Accept all or manage your settings. \
About us, contact, advertise with us, careers, help, site map. Terms of use, privacy policy, \
accessibility. All rights reserved. No part of this site may be reproduced without permission. ";

/// In Chinese.
pub(super) const CHINESE: &str = "首页 新闻 体育 财经 评论 文化 天气 旅游 视频。\
登录或注册后继续阅读。订阅我们的邮件，不错过任何报道。分享本页，打印，收藏。关注我们。今日热门。\
本网站使用缓存文件以改善您的体验。全部接受或管理设置。关于我们，联系方式，广告服务，招聘信息，帮助，\
网站地图。使用条款，隐私政策，无障碍服务。版权所有，未经许可不得转载。";
