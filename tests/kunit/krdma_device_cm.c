// SPDX-License-Identifier: GPL-2.0
/*
 * The RDMA CM and ib_client of krdma_device_fake.h: one device, and listeners
 * that are identified by their port. Events come from a workqueue, one at a
 * time, under the handler mutex of their cm_id, as with the real CM.
 */
#define KRDMA_DEVICE_FAKE_ITSELF
#include "krdma_device_fake.h"

#include <linux/in.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

struct fake_id {
	struct rdma_cm_id id;
	struct kref ref;
	/* The mutex is held during an event of this id, and protects dead. */
	struct mutex handler;
	/*
	 * fake_ids_lock protects link and peer. link is an entry of
	 * fake_listeners.
	 */
	struct list_head link;
	struct fake_id *peer;
	bool dead;
};

struct fake_event {
	struct work_struct work;
	struct fake_id *id;
	struct fake_id *request;
	struct rdma_cm_event event;
	u8 data[196];
};

static struct workqueue_struct *fake_cm_wq;
static LIST_HEAD(fake_listeners);
static DEFINE_MUTEX(fake_ids_lock);
static struct ib_client *fake_client;
static void *fake_client_data;

static struct fake_id *fake_id(struct rdma_cm_id *id)
{
	return container_of(id, struct fake_id, id);
}

static void fake_id_free(struct kref *ref)
{
	kfree(container_of(ref, struct fake_id, ref));
}

static void fake_id_put(struct fake_id *fid)
{
	if (fid)
		kref_put(&fid->ref, fake_id_free);
}

struct rdma_cm_id *fake_create_id(struct net *net, rdma_cm_event_handler handler,
				  void *context)
{
	struct fake_id *fid = kzalloc(sizeof(*fid), GFP_KERNEL);

	if (!fid)
		return ERR_PTR(-ENOMEM);
	kref_init(&fid->ref);
	mutex_init(&fid->handler);
	INIT_LIST_HEAD(&fid->link);
	fid->id.event_handler = handler;
	fid->id.context = context;
	fid->id.ps = RDMA_PS_TCP;
	fid->id.qp_type = IB_QPT_RC;
	fid->id.route.addr.dev_addr.net = net;
	return &fid->id;
}

/* Destroy an id. After the return, no event handler of @id runs. */
void fake_destroy_id(struct rdma_cm_id *id)
{
	struct fake_id *fid = fake_id(id), *peer;

	mutex_lock(&fid->handler);
	fid->dead = true;
	mutex_unlock(&fid->handler);
	mutex_lock(&fake_ids_lock);
	list_del_init(&fid->link);
	peer = fid->peer;
	fid->peer = NULL;
	mutex_unlock(&fake_ids_lock);
	fake_id_put(peer);
	fake_id_put(fid);
}

static int fake_deliver(struct fake_event *e)
{
	int ret = 0;

	mutex_lock(&e->id->handler);
	if (e->request)
		mutex_lock_nested(&e->request->handler, SINGLE_DEPTH_NESTING);
	if (!e->id->dead)
		ret = e->id->id.event_handler(e->request ? &e->request->id :
							   &e->id->id,
					      &e->event);
	else if (e->request)
		ret = -ECONNABORTED;
	if (e->request)
		mutex_unlock(&e->request->handler);
	mutex_unlock(&e->id->handler);
	return ret;
}

static void fake_event_work(struct work_struct *work)
{
	struct fake_event *e = container_of(work, struct fake_event, work);

	if (fake_deliver(e) && e->request)
		fake_destroy_id(&e->request->id);
	fake_id_put(e->id);
	kfree(e);
}

static struct fake_event *fake_event_alloc(struct fake_id *fid,
					   enum rdma_cm_event_type type,
					   const void *data, u8 len)
{
	struct fake_event *e = kzalloc(sizeof(*e), GFP_KERNEL);

	if (!e)
		return NULL;
	INIT_WORK(&e->work, fake_event_work);
	kref_get(&fid->ref);
	e->id = fid;
	e->event.event = type;
	if (len)
		memcpy(e->data, data, len);
	e->event.param.conn.private_data = e->data;
	e->event.param.conn.private_data_len = len;
	return e;
}

static int fake_tell(struct fake_id *fid, enum rdma_cm_event_type type,
		     int status, const void *data, u8 len)
{
	struct fake_event *e = fid ? fake_event_alloc(fid, type, data, len) :
				     NULL;

	if (!e)
		return -ENOMEM;
	e->event.status = status;
	queue_work(fake_cm_wq, &e->work);
	return 0;
}

int fake_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	memcpy(&id->route.addr.src_addr, addr, sizeof(struct sockaddr_in));
	return 0;
}

int fake_listen(struct rdma_cm_id *id)
{
	mutex_lock(&fake_ids_lock);
	list_add(&fake_id(id)->link, &fake_listeners);
	mutex_unlock(&fake_ids_lock);
	return 0;
}

static void fake_bind_device(struct rdma_cm_id *id)
{
	id->device = &fake->ibdev;
	id->port_num = 1;
}

int fake_resolve_addr(struct rdma_cm_id *id, const struct sockaddr *dst)
{
	memcpy(&id->route.addr.dst_addr, dst, sizeof(struct sockaddr_in));
	memcpy(&id->route.addr.src_addr, dst, sizeof(struct sockaddr_in));
	fake_bind_device(id);
	return fake_tell(fake_id(id), RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
}

int fake_resolve_route(struct rdma_cm_id *id)
{
	if (fake->holds_routes)
		return 0;
	return fake_tell(fake_id(id), RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
}

int fake_create_qp(struct rdma_cm_id *id, struct ib_pd *pd,
		   struct ib_qp_init_attr *attr)
{
	struct ib_qp *qp = ib_create_qp(pd, attr);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	id->qp = qp;
	return 0;
}

void fake_destroy_qp(struct rdma_cm_id *id)
{
	ib_destroy_qp(id->qp);
	id->qp = NULL;
}

static __be16 fake_port(const struct sockaddr_storage *addr)
{
	return ((const struct sockaddr_in *)addr)->sin_port;
}

static struct fake_id *fake_find_listener(const struct rdma_cm_id *id)
{
	struct fake_id *fid;

	lockdep_assert_held(&fake_ids_lock);
	list_for_each_entry(fid, &fake_listeners, link)
		if (fake_port(&fid->id.route.addr.src_addr) ==
		    fake_port(&id->route.addr.dst_addr))
			return fid;
	return NULL;
}

/*
 * Make @a and @b peers of each other. Each holds a reference to its peer until
 * it is destroyed.
 */
static void fake_pair(struct fake_id *a, struct fake_id *b)
{
	kref_get(&a->ref);
	kref_get(&b->ref);
	a->peer = b;
	b->peer = a;
}

static int fake_request(struct fake_id *listener, struct fake_id *fid,
			const struct rdma_conn_param *param)
{
	struct rdma_cm_id *id =
		fake_create_id(listener->id.route.addr.dev_addr.net,
			       listener->id.event_handler,
			       listener->id.context);
	struct fake_event *e;

	if (IS_ERR(id))
		return PTR_ERR(id);
	e = fake_event_alloc(listener, RDMA_CM_EVENT_CONNECT_REQUEST,
			     param->private_data, param->private_data_len);
	if (!e) {
		fake_destroy_id(id);
		return -ENOMEM;
	}
	fake_bind_device(id);
	id->route.addr.src_addr = fid->id.route.addr.src_addr;
	id->route.addr.dst_addr = fid->id.route.addr.dst_addr;
	e->request = fake_id(id);
	/*
	 * Swap the two values: the other end responds to the READs that this
	 * end initiates, and the reverse.
	 */
	e->event.param.conn.responder_resources = param->initiator_depth;
	e->event.param.conn.initiator_depth = param->responder_resources;
	fake_pair(fid, e->request);
	queue_work(fake_cm_wq, &e->work);
	return 0;
}

int fake_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct fake_id *listener;
	int ret;

	mutex_lock(&fake_ids_lock);
	listener = fake_find_listener(id);
	ret = listener ? fake_request(listener, fake_id(id), param) :
			 fake_tell(fake_id(id), RDMA_CM_EVENT_REJECTED, 8, NULL,
				   0);
	mutex_unlock(&fake_ids_lock);
	return ret;
}

/* Return the peer of @id with a reference that the caller drops, or NULL. */
static struct fake_id *fake_get_peer(struct rdma_cm_id *id)
{
	struct fake_id *peer;

	mutex_lock(&fake_ids_lock);
	peer = fake_id(id)->peer;
	if (peer)
		kref_get(&peer->ref);
	mutex_unlock(&fake_ids_lock);
	return peer;
}

int fake_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct fake_id *peer = fake_get_peer(id);
	int ret;

	if (!peer || !peer->id.qp) {
		fake_id_put(peer);
		return -ENOTCONN;
	}
	fake_link_qps(id->qp, peer->id.qp);
	ret = fake_tell(peer, RDMA_CM_EVENT_ESTABLISHED, 0, param->private_data,
			param->private_data_len) ?:
	      fake_tell(fake_id(id), RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	fake_id_put(peer);
	return ret;
}

int fake_reject(struct rdma_cm_id *id, const void *data, u8 len)
{
	struct fake_id *peer = fake_get_peer(id);
	int ret;

	ret = fake_tell(peer, RDMA_CM_EVENT_REJECTED, 28, data, len);
	fake_id_put(peer);
	return ret;
}

int fake_disconnect(struct rdma_cm_id *id)
{
	struct fake_id *peer = fake_get_peer(id);
	unsigned long flags;

	spin_lock_irqsave(&fake->lock, flags);
	fake->disconnects++;
	spin_unlock_irqrestore(&fake->lock, flags);
	if (id->qp)
		fake_fail_qp(id->qp);
	if (!fake->holds_ends)
		fake_tell(peer, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	fake_id_put(peer);
	return 0;
}

/* Report the end of a connection, as after the peer's close. */
void fake_report_end(struct rdma_cm_id *id)
{
	fake_tell(fake_id(id), RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
}

const void *fake_reject_data(struct rdma_cm_event *event, u8 *len)
{
	*len = event->param.conn.private_data_len;
	return *len ? event->param.conn.private_data : NULL;
}

/* Replace each call of the CM that has no effect in this test. */
int fake_done(struct rdma_cm_id *id)
{
	return 0;
}

void fake_lock_handler(struct rdma_cm_id *id)
{
	mutex_lock(&fake_id(id)->handler);
}

void fake_unlock_handler(struct rdma_cm_id *id)
{
	mutex_unlock(&fake_id(id)->handler);
}

/* ---- the client ---- */

int fake_register_client(struct ib_client *client)
{
	fake_client = client;
	return 0;
}

void fake_unregister_client(struct ib_client *client)
{
	fake_client = NULL;
}

bool fake_has_client(void)
{
	return fake_client;
}

void fake_set_client_data(void *data)
{
	fake_client_data = data;
}

void fake_add_device(void)
{
	fake_client->add(&fake->ibdev);
}

void fake_remove_device(void)
{
	fake_client->remove(&fake->ibdev, fake_client_data);
}

int fake_cm_init(void)
{
	fake_cm_wq = alloc_ordered_workqueue("fake_cm", 0);
	return fake_cm_wq ? 0 : -ENOMEM;
}

void fake_cm_flush(void)
{
	flush_workqueue(fake_cm_wq);
}

void fake_cm_exit(void)
{
	destroy_workqueue(fake_cm_wq);
}
