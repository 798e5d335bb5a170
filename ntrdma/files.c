// SPDX-License-Identifier: GPL-2.0
/*
 * Files in sysfs, in the folder ntr of the RDMA device. Documentation/ABI/ntrdma
 * describes them.
 *
 * A folder is a kobject of the core without a type of its own, so nothing of
 * this module is needed when its memory is freed. The files find the device by
 * the parents of their folder, and a peer by its number under ntrdma_dev.mutex.
 * So a file that is read while its peer is removed uses no memory of the peer.
 *
 * ntrdma_files_update() adds and removes the folders of peers. It holds a
 * reference to the registered device, so the core cannot remove the folder of
 * the device at the same time. The removal of a folder waits for readers, who take
 * ntrdma_dev.mutex. So the caller must not hold that mutex.
 */
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/sysfs.h>

#include "dev.h"

/* Return the device whose folder is the parent of KOBJ, LEVELS folders above. */
static struct ntrdma_dev *ntrdma_files_dev(struct kobject *kobj, int levels)
{
	while (levels--)
		kobj = kobj->parent;
	return to_ntrdma_dev(container_of(kobj_to_dev(kobj), struct ib_device,
					  dev));
}

static ssize_t backend_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  ntrdma_files_dev(kobj, 1)->config.ops->name);
}

static ssize_t member_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%u\n", ntrdma_files_dev(kobj, 1)->config.member);
}

static ssize_t members_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%u\n",
			  ntrdma_files_dev(kobj, 1)->config.members);
}

static ssize_t coherent_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	u32 flags = ntrdma_files_dev(kobj, 1)->config.ops->flags;

	return sysfs_emit(buf, "%u\n", !!(flags & NTRDMA_COHERENT));
}

static struct kobj_attribute ntrdma_file_backend = __ATTR_RO(backend);
static struct kobj_attribute ntrdma_file_member = __ATTR_RO(member);
static struct kobj_attribute ntrdma_file_members = __ATTR_RO(members);
static struct kobj_attribute ntrdma_file_coherent = __ATTR_RO(coherent);

static struct attribute *ntrdma_dev_attrs[] = {
	&ntrdma_file_backend.attr,
	&ntrdma_file_member.attr,
	&ntrdma_file_members.attr,
	&ntrdma_file_coherent.attr,
	NULL
};

static const struct attribute_group ntrdma_dev_files = {
	.attrs = ntrdma_dev_attrs,
};

static struct ntrdma_peer *ntrdma_files_peer(struct ntrdma_dev *dev,
					     unsigned int member)
{
	return rcu_dereference_protected(dev->peers[member],
					 lockdep_is_held(&dev->mutex));
}

static ssize_t ntrdma_peer_print(const struct ntrdma_peer *peer,
				 const char *file, char *buf)
{
	const struct ntrdma_session *s = &peer->session;

	if (!strcmp(file, "state"))
		return sysfs_emit(buf, "%s\n", ntrdma_link_state_name(s->state));
	if (!strcmp(file, "name"))
		return sysfs_emit(buf, "%s\n", peer->theirs.name);
	if (!strcmp(file, "sessions"))
		return sysfs_emit(buf, "%u\n", peer->sessions);
	return sysfs_emit(buf, "%s\n", ntrdma_reason_name(s->reason));
}

static ssize_t ntrdma_peer_show(struct kobject *kobj,
				struct kobj_attribute *attr, char *buf)
{
	struct ntrdma_dev *dev = ntrdma_files_dev(kobj, 3);
	struct ntrdma_peer *peer;
	ssize_t ret = -ENODEV;
	u8 member;

	if (kstrtou8(kobject_name(kobj), 10, &member) ||
	    member >= NTRDMA_MEMBERS)
		return -ENODEV;
	mutex_lock(&dev->mutex);
	peer = ntrdma_files_peer(dev, member);
	if (peer)
		ret = ntrdma_peer_print(peer, attr->attr.name, buf);
	mutex_unlock(&dev->mutex);
	return ret;
}

static struct kobj_attribute ntrdma_file_state =
	__ATTR(state, 0444, ntrdma_peer_show, NULL);
static struct kobj_attribute ntrdma_file_name =
	__ATTR(name, 0444, ntrdma_peer_show, NULL);
static struct kobj_attribute ntrdma_file_sessions =
	__ATTR(sessions, 0444, ntrdma_peer_show, NULL);
static struct kobj_attribute ntrdma_file_reason =
	__ATTR(reason, 0444, ntrdma_peer_show, NULL);

static struct attribute *ntrdma_peer_attrs[] = {
	&ntrdma_file_state.attr,
	&ntrdma_file_name.attr,
	&ntrdma_file_sessions.attr,
	&ntrdma_file_reason.attr,
	NULL
};

static const struct attribute_group ntrdma_peer_files = {
	.attrs = ntrdma_peer_attrs,
};

/* Create a folder, with files if FILES is not NULL. Return NULL if it fails. */
static struct kobject *ntrdma_folder(struct kobject *parent, const char *name,
				     const struct attribute_group *files)
{
	struct kobject *folder = kobject_create_and_add(name, parent);

	if (folder && files && sysfs_create_group(folder, files)) {
		kobject_put(folder);
		return NULL;
	}
	return folder;
}

/* Remove a folder, wait for readers of its files, and forget the folder. */
static void ntrdma_folder_remove(struct kobject **folder)
{
	if (!*folder)
		return;
	kobject_del(*folder);
	kobject_put(*folder);
	*folder = NULL;
}

/* Return the set of other members that are peers. */
static unsigned long ntrdma_files_wanted(struct ntrdma_dev *dev)
{
	unsigned long wanted = 0;
	unsigned int i;

	mutex_lock(&dev->mutex);
	for (i = 0; i < NTRDMA_MEMBERS; i++)
		if (i != dev->config.member && ntrdma_files_peer(dev, i))
			wanted |= BIT(i);
	mutex_unlock(&dev->mutex);
	return wanted;
}

static void ntrdma_files_peers(struct ntrdma_dev *dev, unsigned long wanted)
{
	struct ntrdma_files *files = &dev->files;
	char name[4];
	unsigned int i;

	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		if (!(wanted & BIT(i))) {
			ntrdma_folder_remove(&files->peer[i]);
		} else if (!files->peer[i]) {
			snprintf(name, sizeof(name), "%u", i);
			files->peer[i] = ntrdma_folder(files->peers, name,
						       &ntrdma_peer_files);
		}
	}
}

/**
 * ntrdma_files_update - let the folders in sysfs follow the peers
 * @dev: device; nothing is done unless it is registered
 *
 * Memory for folders may be missing. Then the next call tries again.
 *
 * Context: may sleep; ntrdma_dev.mutex is not held.
 */
void ntrdma_files_update(struct ntrdma_dev *dev)
{
	struct ntrdma_files *files = &dev->files;

	if (!ib_device_try_get(&dev->ib))
		return;
	mutex_lock(&files->mutex);
	if (!files->top)
		files->top = ntrdma_folder(&dev->ib.dev.kobj, "ntr",
					   &ntrdma_dev_files);
	if (files->top && !files->peers)
		files->peers = ntrdma_folder(files->top, "peers", NULL);
	if (files->peers)
		ntrdma_files_peers(dev, ntrdma_files_wanted(dev));
	mutex_unlock(&files->mutex);
	ib_device_put(&dev->ib);
}

/**
 * ntrdma_files_remove - remove all folders of a device
 * @dev: device that is not registered any more, with or without folders
 *
 * Context: may sleep, until nobody reads the files; ntrdma_dev.mutex is not
 * held.
 */
void ntrdma_files_remove(struct ntrdma_dev *dev)
{
	struct ntrdma_files *files = &dev->files;

	mutex_lock(&files->mutex);
	ntrdma_files_peers(dev, 0);
	ntrdma_folder_remove(&files->peers);
	ntrdma_folder_remove(&files->top);
	mutex_unlock(&files->mutex);
}
